package text

import (
	"testing"
)

// B3: which charset is decided on. No U+FFFD is ever put in.
func TestCharset(t *testing.T) {
	const html, plain = "text/html", "text/plain"
	for _, tt := range []struct{ name, raw, mediaType, want string }{
		{"UTF-8", "é", plain, "é"},
		{"a BOM", "\xef\xbb\xbfé", plain, "é"},
		{"a BOM against the parameter", "\xef\xbb\xbfé", "text/plain; charset=windows-1251", "é"},
		{"UTF-16LE by BOM", "\xff\xfea\x00\x3d\xd8\x00\xde", plain, "a😀"},
		{"UTF-16BE by BOM", "\xfe\xff\x00a\xd8\x3d\xde\x00", plain, "a😀"},
		{"UTF-16 by parameter is little-endian", "a\x00b\x00", "text/plain; charset=utf-16", "ab"},
		{"UTF-16BE by parameter", "\x00a\x00b", "text/plain; charset=UTF-16BE", "ab"},
		{"a real U+FFFD", "a\ufffdb", plain, "a\ufffdb"},
		{"a real U+FFFD in UTF-16", "\xfe\xff\xff\xfd", plain, "\ufffd"},
		{"windows-1251 by parameter", "\xcf\xf0", "text/plain;charset=\"windows-1251\"", "Пр"},
		{"the web's latin1", "\x80\xe9", "text/plain; charset=ISO-8859-1", "€é"},
		{"the parameter beats valid UTF-8", "é", "text/plain; charset=windows-1252", "Ã©"},
		{"the parameter beats meta", "<meta charset=windows-1251>\xe9", "text/html; charset=windows-1252", "é"},
		{"meta", "<meta charset=windows-1251>\xe9", html, "й"},
		{"meta http-equiv", "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>\xc1", html, "а"},
		{"meta http-equiv, sloppy", "<meta http-equiv=content-type content=\"text/html charset = 'koi8-r'\">\xc1", html, "а"},
		{"valid UTF-8 beats meta", "<meta charset=windows-1251>é", html, "é"},
		{"meta that means UTF-8", "<meta charset=utf-16le>a", html, "a"},
		{"ISO-2022-JP in ASCII", "<meta charset=iso-2022-jp>\x1b$B4A\x1b(B", html, "漢"},
		{"Shift_JIS", "\x8a\xbf", "text/plain; charset=shift_jis", "漢"},
		{"GB 18030", "\x95\xa3\x82\x30\x82\x39", "text/plain; charset=gb18030", ""},
		{"an unknown label in meta", "<meta charset=nonsense>é", html, "é"},
		{"meta in plain text", "<meta charset=windows-1251>", plain, "<meta charset=windows-1251>"},
		{"ASCII", "a", "text/plain; charset=us-ascii", "a"},
		{"nothing", "", plain, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := process(t, tt.raw, tt.mediaType, Options{})
			if tt.want != "" && got.Content != tt.want || tt.raw == "" && got.Content != "" {
				t.Errorf("got %+q, want %+q", got.Content, tt.want)
			}
		})
	}
}

// B3: what is in no charset is refused, with its place where there is one.
func TestCharsetRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, raw, mediaType string
		offset               int64
	}{
		{"not UTF-8", "ab\xe9", "text/plain", 2},
		{"not UTF-8 after a BOM", "\xef\xbb\xbfa\xff", "text/plain", 4},
		{"declared UTF-8", "\xc3", "text/plain; charset=utf-8", 0},
		{"a surrogate in UTF-8", "a\xed\xa0\x80", "text/plain", 1},
		{"odd UTF-16", "\xff\xfea\x00b", "text/plain", 4},
		{"a high surrogate alone", "\xff\xfe\x3d\xd8a\x00", "text/plain", 2},
		{"a high surrogate at the end", "\xfe\xff\xd8\x3d", "text/plain", 2},
		{"a low surrogate alone", "\xfe\xff\xdc\x00\x00a", "text/plain", 2},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "text/plain", 0},
		{"an unknown label", "a", "text/plain; charset=nonsense", -1},
		{"a label that only disarms", "a", "text/plain; charset=iso-2022-kr", -1},
		{"a label into the private use area", "\x80", "text/plain; charset=x-user-defined", -1},
		{"an empty label", "a", "text/plain; charset=\"\"", -1},
		{"a byte that windows-1253 lacks", "\xd2", "text/plain; charset=windows-1253", -1},
		{"a broken pair", "\x8a", "text/plain; charset=shift_jis", -1},
		{"a broken pair", "\x8a ", "text/plain; charset=euc-kr", -1},
		{"a broken pair", "\x95", "text/plain; charset=gb18030", -1},
		{"a broken pair", "\xa4", "text/plain; charset=big5", -1},
		{"a broken pair", "\xa4", "text/plain; charset=euc-jp", -1},
		{"a broken sequence", "\x1b$B4", "text/plain; charset=iso-2022-jp", -1},
		{"a page without meta", "<p>\xcf", "text/html", 3},
		{"a page with an unknown label", "<meta charset=nonsense>\xcf", "text/html", 23},
		{"a page that says UTF-8", "<meta charset=utf-8>\xcf", "text/html", 20},
		{"a meta in a comment", "<!-- <meta charset=koi8-r> -->\xcf", "text/html", 30},
		{"a table", "a,\xcf", "text/csv", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refusal(t, tt.raw, tt.mediaType, Options{}); got.Reason != Encoding || got.Offset != tt.offset {
				t.Errorf("%v, want offset %d", got, tt.offset)
			}
		})
	}
}
