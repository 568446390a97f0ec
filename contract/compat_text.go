package contract

import "strconv"

// textSettings are the keys of result.text. A change of what a text is made of is
// breaking; more or less of the same text is not, where readers can bear it.
func textSettings() []setting {
	return []setting{
		mapping("result.text.profile", breaks, breaks, breaks, textRule(func(t *TextRules) string { return t.Profile })),
		mapping("result.text.html.keep_links", breaks, breaks, breaks, textRule(func(t *TextRules) string { return strconv.FormatBool(t.KeepLinks) })),
		amount("result.text.html.max_redirects", adds, breaks, strconv.Itoa, textAmount(func(t *TextRules) int { return t.MaxRedirects })),
		mapping("result.text.html.drop", adds, adds, harmless, textList(func(t *TextRules) []string { return t.Drop })),
		mapping("result.text.html.within", breaks, breaks, harmless, textList(func(t *TextRules) []string { return t.Within })),
		amount("result.text.max_response_bytes", harmless, breaks, strconv.Itoa, textAmount(func(t *TextRules) int { return t.MaxResponseBytes })),
		amount("result.text.max_output_chars", adds, breaks, strconv.Itoa, textAmount(func(t *TextRules) int { return t.MaxOutputChars })),
		mapping("result.text.raw_source", breaks, breaks, breaks, textRule(func(t *TextRules) string { return strconv.FormatBool(t.RawSource) })),
	}
}

func textRule(of func(*TextRules) string) func(*Contract) map[string]string {
	return func(c *Contract) map[string]string {
		if c.Result.Text == nil {
			return nil
		}
		return map[string]string{"": of(c.Result.Text)}
	}
}

func textList(of func(*TextRules) []string) func(*Contract) map[string]string {
	return func(c *Contract) map[string]string {
		if c.Result.Text == nil {
			return nil
		}
		return entriesOf(of(c.Result.Text))
	}
}

func textAmount(of func(*TextRules) int) func(*Contract) int {
	return func(c *Contract) int {
		if c.Result.Text == nil {
			return notThere
		}
		return of(c.Result.Text)
	}
}
