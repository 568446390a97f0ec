package strictjson_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// wide allows everything but more bytes than the service takes, so that no other limit
// saves the reader from a shape.
func wide() strictjson.Limits {
	return strictjson.Limits{
		MaxBytes: 4 << 20, MaxDepth: math.MaxInt, MaxItems: math.MaxInt, MaxStringChars: math.MaxInt, MaxNameChars: math.MaxInt, MaxNumberChars: math.MaxInt,
	}
}

// fill repeats piece, which may count with %d, up to n bytes between open and closing.
func fill(n int, open, piece, closing string) string {
	var b strings.Builder
	b.WriteString(open)
	counts := strings.Contains(piece, "%")
	for i := 0; b.Len()+len(piece)+len(closing)+8 <= n; i++ {
		if counts {
			fmt.Fprintf(&b, piece, i)
		} else {
			b.WriteString(piece)
		}
	}
	b.WriteString(closing)
	return b.String()
}

// shapes are texts of at most n bytes, made to cost as much as a text can.
func shapes() map[string]func(n int) string {
	thirteen := `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1},`
	prefix := strings.Repeat("p", 200)
	plain := func(open, piece, closing string) func(int) string {
		return func(n int) string { return fill(n, open, piece, closing) }
	}
	return map[string]func(int) string{
		"tiny keys":                   plain("{", `"k%d":0,`, `"":0}`),
		"tiny escaped keys":           plain("{", `"\u006b%d":0,`, `"":0}`),
		"keys of one prefix":          plain("{", `"`+prefix+`%d":0,`, `"":0}`),
		"keys of one prefix, escaped": plain("{", `"\n`+prefix+`%d":0,`, `"":0}`),
		"one key again and again":     plain("{", `"a":0,`, `"b":0}`),
		"one escaped key again":       plain(`{"a":0,`, `"\u0061":0,`, `"b":0}`),
		"twelve keys, the last again": plain(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,`, `"l":1,`, `"m":0}`),
		"objects of thirteen":         plain("[", thirteen, "0]"),
		"objects of thirteen, inside": plain("", strings.TrimSuffix(thirteen, `1},`), ""),
		"objects and arrays in turn":  plain("[", thirteen+"[0],", "0]"),
		"one large object, many of thirteen": func(n int) string {
			return "[" + fill(n/2, "{", `"k%d":0,`, `"":0},`) + fill(n/2, "", thirteen, "0]")
		},
		"escaped texts, then none": func(n int) string {
			return fill(n/8, "[", `"\n",`, "") + fill(n-n/8, "", `0,`, "0]")
		},
		"small objects":                plain("[", `{"a":0},`, "0]"),
		"one string":                   plain(`"`, "x", `"`),
		"one string of wide runes":     plain(`"`, "\U0001f600", `"`),
		"short escapes":                plain(`"`, `\n`, `"`),
		"long escapes":                 plain(`"`, `\u0041`, `"`),
		"escaped pairs":                plain(`"`, `\ud83d\ude00`, `"`),
		"lone surrogates":              plain(`"`, `\ud83d`, `"`),
		"bytes that are no UTF-8":      plain(`"`, "\xff", `"`),
		"many strings that are none":   plain("[", "\"\xff\",", "0]"),
		"commas in a string":           plain(`"`, `,`, `"`),
		"brackets in a string":         plain(`"`, `[{`, `"`),
		"unclosed arrays":              plain("", "[", ""),
		"unclosed objects":             plain("", `{"":`, ""),
		"deep arrays":                  func(n int) string { return nested("[", "", "]", n/2) },
		"deep objects":                 func(n int) string { return nested(`{"":`, "0", "}", n/5-1) },
		"tiny elements":                plain("[", "0,", "0]"),
		"empty arrays":                 plain("[", "[],", "0]"),
		"one number":                   plain("", "9", ""),
		"one fraction":                 plain("0.", "0", "1"),
		"one exponent":                 plain("1e", "0", "1"),
		"decimals":                     plain("[", "0.5e-10,", "0]"),
		"white space":                  plain("[", " \n", "]"),
		"a bracket that never matches": plain("[", "[],", "}"),
	}
}

// A2; cases 031, 034, 041: time is linear in the input for every hostile shape. Four
// times the bytes may take eight times as long; a quadratic step takes sixteen.
func TestLinearTime(t *testing.T) {
	const n = 32 << 10
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			small, large := []byte(shape(n)), []byte(shape(4*n))
			ratio := math.Inf(1)
			fast, slow := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for try := 0; try < 40 && (try < 5 || ratio >= 8); try++ { // other work on the machine is no fault of ours
				fast, slow = min(fast, timed(small)), min(slow, timed(large))
				ratio = float64(slow) / float64(max(fast, 250*time.Microsecond)) // below, the clock says nothing
			}
			if ratio >= 8 {
				t.Errorf("%d bytes take %v, %d take %v: %.1f times as long", len(small), fast, len(large), slow, ratio)
			}
		})
	}
}

func timed(src []byte) time.Duration {
	start := cpuTime()
	_, _ = strictjson.Parse(src, wide())
	return cpuTime() - start
}

// What doc.go promises: bytes allocated for each byte of an input, all of them, kept or
// not, and for an input at all.
const (
	bytesEach     = 40  // to the depth of the ceilings
	bytesEachDeep = 256 // to any depth
	bytesFixed    = 4096
)

// A2: memory is a fixed multiple of the input for every hostile shape and every size,
// though no other limit helps.
func TestBoundedMemory(t *testing.T) {
	deep, flat := wide(), wide()
	flat.MaxDepth = strictjson.Ceilings().MaxDepth
	for _, way := range []struct {
		limits strictjson.Limits
		each   int
	}{{flat, bytesEach}, {deep, bytesEachDeep}} {
		worst, worstName := 0.0, ""
		for name, shape := range shapes() {
			for _, n := range []int{10, 40, 200, 1000, 100_000, 300_000} {
				src := []byte(shape(n))
				allowed := way.each*len(src) + bytesFixed
				used := allocated(func() { _, _ = strictjson.Parse(src, way.limits) }, allowed)
				if used > allowed {
					t.Errorf("%s: %d bytes allocated for %d", name, used, len(src))
				}
				if each := float64(used-bytesFixed) / float64(len(src)+1); each > worst {
					worst, worstName = each, fmt.Sprintf("%s, %d bytes", name, len(src))
				}
			}
		}
		t.Logf("depth %d: most is %.1f bytes a byte above %d: %s", way.limits.MaxDepth, worst, bytesFixed, worstName)
	}
}

// allocated counts the bytes that f allocates. It runs again where that seems too much,
// since other goroutines of the test binary allocate too.
func allocated(f func(), allowed int) int {
	least := uint64(math.MaxUint64)
	for try := 0; try < 5 && least > uint64(allowed); try++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return int(least)
}

// What a list of many values costs is the size of a node.
func TestBytesOfAValue(t *testing.T) {
	const values = 50_000
	for _, row := range []struct {
		name, element string
		each          int // bytes a value, the rest of a page left out
	}{
		{"plain values", `true,`, 24},
		{"escaped texts", `"\n",`, 24 + 4*12 + 8}, // what grows by doubling was up to four times as much in all
	} {
		src := []byte("[" + strings.Repeat(row.element, values-1) + "null]")
		allowed := len(src) + (values+1)*row.each + 3*8192
		used := allocated(func() { _, _ = strictjson.Parse(src, strictjson.Ceilings()) }, allowed)
		if used > allowed {
			t.Errorf("%s: %d bytes for %d values in %d bytes", row.name, used, values, len(src))
		}
	}
}

// A2: under the ceilings, the largest texts cost little and are judged as documented.
func TestHostileUnderCeilings(t *testing.T) {
	many := fill(2_300_000, "{", `"k%d":0,`, `"":0}`) // 200,000 members
	for _, row := range []struct {
		name, src string
		reason    strictjson.Reason
	}{
		{"200,000 tiny keys", many, strictjson.ItemLimit},
		{"4 MiB of escapes", fill(4<<20, `"`, `\n`, `"`), strictjson.StringLimit},
		{"4 MiB of one string", fill(4<<20, `"`, "x", `"`), strictjson.StringLimit},
		{"100,000 brackets", strings.Repeat("[", 100_000), strictjson.DepthLimit},
		{"4 MiB of digits", strings.Repeat("9", 4<<20), strictjson.NumberLimit},
		{"100,000 duplicates", "{" + strings.Repeat(`"a":0,`, 90_000) + `"b":0}`, strictjson.DuplicateName},
	} {
		t.Run(row.name, func(t *testing.T) {
			if fault := refusal(t, row.src, strictjson.Ceilings()); fault.Reason != row.reason {
				t.Errorf("%v, want %v", fault, row.reason)
			}
			input := []byte(row.src)
			const allowed = 20 << 20
			if used := allocated(func() { _, _ = strictjson.Parse(input, strictjson.Ceilings()) }, allowed); used > allowed {
				t.Errorf("%d bytes allocated for %d", used, len(row.src))
			}
		})
	}
}

// The names of one large object burden none of the small ones behind it: the map that
// they were kept in is not cleared again and again.
func TestLargeObjectBeforeSmallOnes(t *testing.T) {
	const n = 512 << 10
	first := fill(n, "{", `"k%d":0,`, `"":0}`)
	rest := shapes()["objects of thirteen"](n)
	both := "[" + first + "," + rest + "]"
	ratio := math.Inf(1)
	alone, together := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for try := 0; try < 20 && ratio >= 3; try++ {
		alone = min(alone, timed([]byte(first))+timed([]byte(rest)))
		together = min(together, timed([]byte(both)))
		ratio = float64(together) / float64(alone)
	}
	t.Logf("%.2f times as long", ratio)
	if ratio >= 3 {
		t.Errorf("together they take %v, one after the other %v", together, alone)
	}
}

// Reading allocates a handful of times, not once for each value.
func TestFewAllocations(t *testing.T) {
	for name, src := range map[string]string{
		"a list":              fill(50_000, "[", `{"id":%d,"name":"a","price":1.50,"tags":["x","y"]},`, "0]"),
		"a list of wide rows": shapes()["objects of thirteen"](50_000),
		"a list of escapes":   fill(50_000, "[", `{"id":%d,"n\u0061me":"a\n"},`, "0]"),
	} {
		input := []byte(src)
		if n := testing.AllocsPerRun(10, func() { _, _ = strictjson.Parse(input, strictjson.Ceilings()) }); n > 40 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}
