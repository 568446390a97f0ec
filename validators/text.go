package validators

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
	"github.com/hallmark-gate/hallmark/validators/text"
)

// Arrival is how a reply came, as far as it says how a text is read.
type Arrival struct {
	// MediaType is as declared, parameters included; "": the contract's only one.
	MediaType string
	// Source is the address that links of a page are resolved against; "" where it is
	// not known for certain.
	Source string
	// RawSource is true where the source of a page is to be given in place of its
	// visible text. Whoever asks must be allowed to.
	RawSource bool
}

// Text is what an accepted reply of kind text gives to the agent: outside text, made fit
// to be shown.
type Text struct {
	Content       string
	Title         string // of a page; "" without one
	Links         []text.Link
	Truncated     bool   // content, title or links were cut
	Normalization string // NFKC or NFC
}

// judgeText judges a reply of kind text: there is no schema that could refuse it, so
// that all it can break is a limit, its charset or its syntax.
func (t *Tool) judgeText(ctx context.Context, raw []byte, f Facts) Verdict {
	rules, limits := t.Contract.Result.Text, t.Contract.Result.Limits
	limits.MaxBytes = min(limits.MaxBytes, rules.MaxResponseBytes)
	media := f.Arrival.MediaType
	if media == "" {
		media = t.Contract.Result.MediaTypes[0]
	}
	options := textOptions(rules, limits, f.Arrival)
	if _, bare := t.framing.(bare); bare {
		return process(ctx, raw, media, options)
	}
	value, refused := t.read.Read(raw, limits)
	if refused != nil {
		return Refuse(*refused)
	}
	framed, refusal := t.framing.unframe(value, f.Request)
	if refusal != nil {
		return *refusal
	}
	links := linkBlocks(framed.payload)
	options.Links = links
	dropped := framed.dropped
	dropTextBlocks(&dropped, framed.payload, len(links))
	joined := strings.Join(textsOf(framed.payload), "\n")
	v := process(ctx, []byte(joined), t.Contract.Result.BlockMediaType()+"; charset=utf-8", options)
	if !v.Accepted {
		for i := range v.Rejections {
			v.Rejections[i].At, v.Rejections[i].Offset = shownPointer(framed.under), 0
		}
	} else if framed.foreign != nil {
		signals := v.Signals
		v = Refuse(*framed.foreign)
		v.Signals = signals
	}
	for signal, n := range dropped {
		v.count(signal, n)
	}
	return v
}

func textOptions(rules *contract.TextRules, limits strictjson.Limits, a Arrival) text.Options {
	o := text.Options{
		Profile: profileOf(rules.Profile), MaxBytes: limits.MaxBytes, MaxItems: limits.MaxItems,
		MaxOutputChars: rules.MaxOutputChars, RawSource: a.RawSource,
		HTML: text.HTMLOptions{KeepLinks: rules.KeepLinks, Drop: rules.Drop, Within: rules.Within},
	}
	if base, err := url.Parse(a.Source); err == nil && base.IsAbs() && base.Host != "" {
		o.Base = base
	}
	return o
}

func profileOf(name string) text.Profile {
	if name == "code" {
		return text.Code
	}
	return text.Prose
}

// process puts a text through the text path.
func process(ctx context.Context, raw []byte, media string, options text.Options) Verdict {
	r, err := text.Process(ctx, raw, media, options)
	if err != nil {
		return Refuse(textRejection(err))
	}
	v := Verdict{Accepted: true, Output: Output{
		Truncated: r.Truncated,
		Text: &Text{
			Content: r.Content, Title: r.Title, Links: r.Links,
			Truncated: r.Truncated, Normalization: r.Normalization,
		},
	}}
	v.countRemoved(r.Removed)
	v.countNoticed(r.Noticed)
	return v
}

func (v *Verdict) countNoticed(n text.Noticed) {
	v.count("hidden_html", uint64(n.HiddenText))
	v.count("css_unevaluated", uint64(n.Unevaluated))
	v.count("mixed_script", uint64(n.MixedScript))
	v.count("instruction_phrase", uint64(n.Phrases))
}

// textRejection turns a refusal of the text path into a rejection. A text that is no
// table is not of the media type that it was declared to be.
func textRejection(err error) Rejection {
	r := Rejection{Layer: contract.LayerText, Reason: contract.ReasonHTMLLimit, Detail: "the text cannot be read"}
	var refused *text.Error
	if !errors.As(err, &refused) {
		return r
	}
	r.Detail, r.Offset = refused.Detail, int(max(refused.Offset, 0))
	switch refused.Reason {
	case text.ByteLimit:
		r.Layer, r.Reason = contract.LayerLimits, contract.ReasonByteLimit
	case text.ItemLimit:
		r.Layer, r.Reason = contract.LayerLimits, contract.ReasonItemLimit
	case text.Encoding:
		r.Reason = contract.ReasonEncoding
	case text.MediaType, text.Syntax:
		r.Reason = contract.ReasonMediaType
	}
	return r
}

// linkBlocks returns the resource links of content that may be shown, inert.
func linkBlocks(content strictjson.Value) []text.Link {
	var links []text.Link
	for _, block := range content.Elements() {
		if block.Member("type").Text() != blockLink {
			continue
		}
		name := block.Member("title").Text()
		if name == "" {
			name = block.Member("name").Text()
		}
		if l, ok := text.CleanLink(text.Link{Text: name, Href: block.Member("uri").Text()}, nil); ok {
			links = append(links, l)
		}
	}
	return links
}

// dropTextBlocks counts the blocks of which nothing became text or link.
func dropTextBlocks(signals *map[string]uint64, content strictjson.Value, links int) {
	for _, block := range content.Elements() {
		switch kind := block.Member("type").Text(); {
		case kind == "text":
		case kind == blockLink && links > 0:
			links--
		default:
			count(signals, "dropped_blocks."+kind, 1) // one of blockTypes
		}
	}
}
