package text

import "net/url"

// CleanLink makes a link that came from outside fit to be shown: its text cleaned and
// on one line, its address absolute, http, https or mailto, without user info. ok is
// false where the address may not be kept. base is what the address is resolved
// against; nil: it must be absolute by itself. A link without a text gets its address
// as one.
func CleanLink(l Link, base *url.URL) (clean Link, ok bool) {
	clean.Href = linkAddress(base, l.Href)
	if clean.Href == "" {
		return Link{}, false
	}
	clean.Text, _ = shortText(l.Text)
	if clean.Text == "" {
		clean.Text = clean.Href
	}
	return clean, true
}

// Notice counts in a text that has been cleaned what [Process] counts in a content. The
// counts of pages are 0.
func Notice(s string) Noticed {
	return Noticed{MixedScript: mixedScriptWords(s), Phrases: instructionPhrases(s)}
}

// Add adds other to n, count by count.
func (n *Noticed) Add(other Noticed) {
	n.HiddenText += other.HiddenText
	n.Unevaluated += other.Unevaluated
	n.MixedScript += other.MixedScript
	n.Phrases += other.Phrases
}
