package strictjson_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// D1; case 035: values are written as they came, byte for byte.
func TestAppendJSON(t *testing.T) {
	for _, row := range []struct{ src, want string }{
		{" null ", "null"},
		{" [ ] ", "[]"},
		{"{\t}", "{}"},
		{"[[],[[]],{}]", "[[],[[]],{}]"},
		{`[ 1.0 , 1E+2 , -0 , 725653563933458432 ]`, `[1.0,1E+2,-0,725653563933458432]`},
		{`[ "\u0061\/\ud83d\uDE00" , "` + "\u2028" + `" ]`, `["\u0061\/\ud83d\uDE00","` + "\u2028" + `"]`},
		{`{ "b" : 1 , "a" : { "c" : [ true , false ] , "d" : null } , "e" : 2 }`, `{"b":1,"a":{"c":[true,false],"d":null},"e":2}`},
		{`{"n\u0061me":1,"\u0000\"\\":2}`, `{"name":1,"\u0000\"\\":2}`},
	} {
		v := mustParse(t, row.src)
		if got := string(strictjson.AppendJSON([]byte("x"), v)); got != "x"+row.want {
			t.Errorf("%s becomes %s, want %s", row.src, got[1:], row.want)
		}
		if got := string(strictjson.AppendJSON(nil, v)); got != row.want {
			t.Errorf("%s becomes %s", row.src, got)
		}
	}
	v := mustParse(t, `{"a":[1,{"b":[2,3]},4],"c":5}`)
	if got := string(strictjson.AppendJSON(nil, v.At(strictjson.Pointer{"a", "1"}))); got != `{"b":[2,3]}` {
		t.Errorf("a part becomes %s", got)
	}
	if got := strictjson.AppendJSON(nil, strictjson.Value{}); got != nil {
		t.Errorf("an absent value becomes %q", got)
	}
}

// Every code point comes back from its JSON string, here and in encoding/json; bytes
// that are no UTF-8 become U+FFFD each.
func TestAppendString(t *testing.T) {
	for c := rune(0); c <= utf8.MaxRune; c++ {
		if c > 0x3000 && c < 0xD700 || c > 0x1_1000 && c < 0x10_F000 {
			continue
		}
		if !utf8.ValidRune(c) {
			continue
		}
		text := "a" + string(c) + "b"
		token := strictjson.AppendString(nil, text)
		v, err := strictjson.Parse(token, strictjson.Ceilings())
		if err != nil || v.Text() != text || v.Chars() != 3 {
			t.Fatalf("%U: %s, %v", c, token, err)
		}
		var other string
		if err := json.Unmarshal(token, &other); err != nil || other != text {
			t.Fatalf("%U: encoding/json reads %q, %v", c, other, err)
		}
	}
	for src, want := range map[string]string{
		"": `""`, "\xff": `"` + "\ufffd" + `"`, "a\xc3(": `"a` + "\ufffd" + `("`, "\xed\xa0\x80": `"` + "\ufffd\ufffd\ufffd" + `"`,
		"\"\\\x7f/\x1f": `"\"\\` + "\x7f" + `/\u001f"`, "é\xe2\x82": `"é` + "\ufffd\ufffd" + `"`,
	} {
		if got := string(strictjson.AppendString(nil, src)); got != want {
			t.Errorf("%q becomes %s, want %s", src, got, want)
		}
	}
}
