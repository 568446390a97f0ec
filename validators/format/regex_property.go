package format

import (
	"strings"
	"unicode"
)

// property reads the braces of \p{...}: a name and value of General_Category,
// Script or Script_Extensions, a general category alone, or a binary property.
// Names are compared exactly, as ECMA-262 wants, not loosely.
func (p *pattern) property() *Error {
	at := p.i
	end := indexAny(p.s, p.i, "}")
	if !p.skip("{") || end == len(p.s) {
		return fault(at, "a property name in braces expected")
	}
	text := p.s[p.i:end]
	p.i = end + 1
	name, value, pair := strings.Cut(text, "=")
	known := false
	switch {
	case !pair:
		known = isCategory(text) || hasWord(binaryProperties, text)
	case name == "General_Category" || name == "gc":
		known = isCategory(value)
	case name == "Script" || name == "sc" || name == "Script_Extensions" || name == "scx":
		known = isScript(value)
	}
	if !known {
		return fault(at, "a property that does not exist")
	}
	return nil
}

// isCategory knows the values of General_Category with their aliases.
func isCategory(s string) bool {
	_, short := unicode.Categories[s]
	_, long := unicode.CategoryAliases[s]
	return short || long
}

// isScript knows the values of Script with their four-letter aliases.
func isScript(s string) bool {
	if _, ok := unicode.Scripts[s]; ok {
		return true
	}
	return hasWord(scriptAliases, s)
}

// hasWord reports whether list, words between single spaces, holds word.
func hasWord(list, word string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(list, " "+word+" ")
}

// binaryProperties are those that ECMA-262 lists, with their aliases. Properties
// of strings (Basic_Emoji and others) need the v flag.
const binaryProperties = " ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C " +
	"Bidi_Mirrored Bidi_M Case_Ignorable CI Cased Changes_When_Casefolded CWCF " +
	"Changes_When_Casemapped CWCM Changes_When_Lowercased CWL Changes_When_NFKC_Casefolded CWKCF " +
	"Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash " +
	"Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp " +
	"Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation EPres " +
	"Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext " +
	"Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS " +
	"Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math " +
	"Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS " +
	"Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD " +
	"Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS " +
	"White_Space space XID_Continue XIDC XID_Start XIDS "

// scriptAliases are the four-letter names of the scripts of Unicode 15, the
// private ones that PropertyValueAliases.txt has, and Unknown.
const scriptAliases = " Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai " +
	"Bugi Buhd Cakm Cans Cari Cham Cher Chrs Copt Cpmn Cprt Cyrl Deva Diak Dogr Dsrt Dupl Egyp Elba " +
	"Elym Ethi Geor Glag Gong Gonm Goth Gran Grek Gujr Guru Hang Hani Hano Hatr Hebr Hira Hluw Hmng " +
	"Hmnp Hung Ital Java Kali Kana Kawi Khar Khmr Khoj Kits Knda Kthi Lana Laoo Latn Lepc Limb Lina " +
	"Linb Lisu Lyci Lydi Mahj Maka Mand Mani Marc Medf Mend Merc Mero Mlym Modi Mong Mroo Mtei Mult " +
	"Mymr Nagm Nand Narb Nbat Newa Nkoo Nshu Ogam Olck Orkh Orya Osge Osma Ougr Palm Pauc Perm Phag " +
	"Phli Phlp Phnx Plrd Prti Qaac Qaai Rjng Rohg Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh " +
	"Sogd Sogo Sora Soyo Sund Sylo Syrc Tagb Takr Tale Talu Taml Tang Tavt Telu Tfng Tglg Thaa Thai " +
	"Tibt Tirh Tnsa Toto Ugar Vaii Vith Wara Wcho Xpeo Xsux Yezi Yiii Zanb Zinh Zyyy Zzzz Unknown "
