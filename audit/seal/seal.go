package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// Bounds of what is sealed, in bytes.
const (
	// MaxOriginal is how much of an original is kept; the header says where more came.
	MaxOriginal = 4 << 20
	// MaxOpened bounds what [Open] decrypts: a header and an original.
	MaxOpened = MaxHeader + MaxOriginal
	// MaxSealed bounds a sealed original: MaxOpened, 16 bytes for each 64 KiB of it, and
	// age's own header.
	MaxSealed = MaxOpened + MaxOpened/(64<<10)*16 + 16 + maxAgeHeader
	// maxAgeHeader holds MaxKeys recipients, at about 100 bytes each, and some more. It
	// bounds how often a hostile file makes a key be tried.
	maxAgeHeader = 8 << 10
)

// Errors of [Open], to be told apart with errors.Is.
var (
	// ErrFormat says that the bytes are no sealed original of this version.
	ErrFormat = errors.New("seal: not a sealed original that this version reads")
	// ErrNoIdentity says that none of the identities is that of a recipient.
	ErrNoIdentity = errors.New("seal: sealed to other recipients; use the identity of one of them")
	// ErrDamaged says that the file was changed or cut after it was sealed.
	ErrDamaged = errors.New("seal: the sealed original was changed or cut")
)

// Seal returns the original sealed to every recipient, as a binary age file of at most
// [MaxSealed] bytes. It sets Format, Bytes and Cut of the header, OriginalBytes where
// nothing was redacted, and keeps neither h nor original. Of an original beyond
// [MaxOriginal] the beginning is kept, so that a reply that was refused for its size can
// still be looked at. A call without a payload has nothing to seal: nil is sealed as an
// empty original.
//
// Seal redacts nothing: where the contract asks for it, seal what [Header.Redact]
// returns. It fails where there are no recipients and on a header that cannot be
// written; the error repeats nothing of either.
func (r *Recipients) Seal(h Header, original []byte) ([]byte, error) {
	if r == nil || len(r.keys) == 0 {
		return nil, errors.New("seal: there are no recipients")
	}
	h.Format = Format
	if len(h.Redacted) == 0 {
		h.OriginalBytes = uint64(len(original))
	}
	if len(original) > MaxOriginal {
		original, h.Cut = original[:MaxOriginal], true
	}
	h.Bytes = uint64(len(original))
	line, err := h.line()
	if err != nil {
		return nil, err
	}
	size := len(line) + len(original)
	var out bytes.Buffer
	out.Grow(size + size/(64<<10)*16 + 512 + 100*len(r.keys))
	w, err := age.Encrypt(&out, r.keys...)
	if err != nil {
		return nil, fmt.Errorf("seal: sealing to the recipients: %w", err)
	}
	for _, part := range [][]byte{line, original} {
		if _, err := w.Write(part); err != nil {
			return nil, fmt.Errorf("seal: sealing: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("seal: sealing: %w", err)
	}
	return out.Bytes(), nil
}

// Open returns what was sealed; the bytes belong to the caller. Nothing is returned
// before the whole file was authenticated. Errors match [ErrFormat], [ErrNoIdentity] or
// [ErrDamaged]. The header and the original are what an outside system sent: escape them
// before they are printed.
func Open(ids *Identities, sealed []byte) (Header, []byte, error) {
	if len(sealed) > MaxSealed {
		return Header{}, nil, fmt.Errorf("%w: it is larger than %d bytes", ErrFormat, MaxSealed)
	}
	if !bytes.HasPrefix(sealed, []byte("age-encryption.org/v1\n")) {
		return Header{}, nil, fmt.Errorf("%w: it is no binary age file", ErrFormat)
	}
	if !bytes.Contains(sealed[:min(len(sealed), maxAgeHeader)], []byte("\n--- ")) {
		return Header{}, nil, fmt.Errorf("%w: its list of recipients does not end within %d bytes", ErrFormat, maxAgeHeader)
	}
	if ids == nil || len(ids.keys) == 0 {
		return Header{}, nil, ErrNoIdentity
	}
	opened, err := decrypt(ids, sealed)
	if err != nil {
		return Header{}, nil, err
	}
	end := bytes.IndexByte(opened[:min(len(opened), MaxHeader)], '\n') + 1
	if end == 0 {
		return Header{}, nil, fmt.Errorf("%w: it has no header", ErrFormat)
	}
	h, err := readHeader(opened[:end])
	if err != nil {
		return Header{}, nil, err
	}
	original := opened[end:]
	if h.Bytes != uint64(len(original)) {
		return Header{}, nil, fmt.Errorf("%w: the original is not as long as its header says", ErrFormat)
	}
	return h, original, nil
}

// decrypt reads an age file to its end, which alone shows that it was not cut. Errors of
// the library may quote the file and are not passed on.
func decrypt(ids *Identities, sealed []byte) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), ids.keys...)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return nil, ErrNoIdentity
	case err != nil:
		return nil, ErrDamaged
	}
	var out bytes.Buffer
	out.Grow(len(sealed)) // no plaintext is longer than its file
	if _, err := out.ReadFrom(io.LimitReader(r, MaxOpened+1)); err != nil {
		return nil, ErrDamaged
	}
	if out.Len() > MaxOpened {
		return nil, fmt.Errorf("%w: it holds more than %d bytes", ErrFormat, MaxOpened)
	}
	return out.Bytes(), nil
}
