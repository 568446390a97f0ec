package format

func pointerRows() []row {
	return []row{
		yes(""),
		yes("/"),
		yes("/a~0b~1c"),
		yes("/\u00e9\U0001f600"),
		yes("/a\nb\x00"), // any character but / and ~ stands for itself
		no(0, "a"),
		no(0, "#/a"),
		no(2, "/a~"),
		no(1, "/~2"),
		no(3, "/~0~"),
	}
}

func relativePointerRows() []row {
	return []row{
		yes("0"),
		yes("1/a"),
		yes("0#"),
		yes("0+1/a"),
		yes("2-10"),
		yes("10"),
		no(0, ""),
		no(0, "/a"),
		no(0, "00"),
		no(0, "01#"),
		no(0, "-1"),
		no(1, "0##"),
		no(1, "0a"),
		no(2, "0+"),
		no(2, "0-01"),
		no(3, "0+1#"), // the draft has the adjustment only before a pointer
		no(1, "1\n"),
		no(3, "0/a~"),
	}
}
