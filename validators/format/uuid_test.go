package format

func uuidRows() []row {
	return []row{
		yes("2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
		yes("01890A5D-AC96-774B-BCCE-B302099A8057"),
		yes("00000000-0000-0000-0000-000000000000"),
		yes("ffffffff-ffff-ffff-ffff-ffffffffffff"),
		// 052
		no(36, "2eb8aa08-aa98-11ea-b4aa-73b441d16380\n"),
		no(0, ""),
		no(35, "2eb8aa08-aa98-11ea-b4aa-73b441d1638"),
		no(0, "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}"),
		no(0, "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
		no(8, "2eb8aa08aa9811eab4aa73b441d16380"),
		no(9, "2eb8aa08--a98-11ea-b4aa-73b441d16380"),
		no(0, "\uff12eb8aa08-aa98-11ea-b4aa-73b441d16380"), // FULLWIDTH DIGIT TWO
		no(35, "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"),
		no(36, "2eb8aa08-aa98-11ea-b4aa-73b441d16380\x00"),
	}
}
