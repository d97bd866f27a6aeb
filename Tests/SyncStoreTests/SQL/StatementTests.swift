import SyncCore
import SyncStore
import Testing

@Suite("Statements in another SQL dialect")
struct StatementTests {
    private let layout: StoreLayout
    private let dialect = ForeignDialect()

    init() throws { layout = try MediaModel.layout() }

    private func entity(_ name: String) throws -> CompiledEntity { try layout.model.entity(named: name) }

    private func records(_ name: String) throws -> RecordSQL { try RecordSQL(entity(name), layout, dialect) }

    private func association(_ owner: String, _ name: String) throws -> CompiledAssociation {
        let relationship = try #require(try entity(owner).relationship(named: name))
        return layout.model[relationship.link]
    }

    // MARK: Records

    @Test("A selection of rows uses the SQL of its dialect")
    func selectsRows() throws {
        let film = try records("Film")
        #expect(
            film.columns
                == "[r].[id], [r].[sync_entity], [r].[id], [r].[title], [r].[copies], [r].[price], [r].[length]"
        )
        #expect(film.from == "[Media] AS [r]")
        #expect(film.condition == "[r].[sync_entity] IN (u'Film')")
        #expect(
            RowSQL(layout.model[film.entity.table], layout, dialect).select
                == "SELECT [id], [sync_entity], [id], [title], [copies], [price], [length], [directorID], [shelfID], "
                + "[sync_shelf_order] FROM [Media]")
    }

    @Test("A selection is limited by the clauses of its dialect")
    func limitsRows() throws {
        let person = try records("Person")
        #expect(person.window(nil, 0) == "")
        #expect(person.window(-1, 0) == " LIMIT 0")
        #expect(person.window(5, 10) == " LIMIT 5 OFFSET 10")
        #expect(person.window(nil, 3) == " OFFSET 3")
    }

    /// Terms of an order of films, and their SQL in the dialect.
    static let orders: [(RowOrder, String)] = [
        ("copies", "[r].[copies] UP NULLS FIRST"),
        ("-title", "[r].[title] COLLATE bytewise DOWN NULLS LAST"),
        ("-id", "[r].[id] DOWN"),
        ("director.code", "[r].[directorID] COLLATE bytewise UP NULLS FIRST"),
        (
            "shelf.number",
            "(SELECT [r_1].[number] FROM [Shelf] AS [r_1] WHERE [r_1].[sync_id] = [r].[shelfID]) UP NULLS FIRST"
        ),
        (
            "-shelf",
            "CASE WHEN [r].[shelfID] IS NULL THEN NULL ELSE text(array((SELECT [r_1].[room] FROM [Shelf] AS [r_1] "
                + "WHERE [r_1].[sync_id] = [r].[shelfID]), (SELECT [r_2].[number] FROM [Shelf] AS [r_2] "
                + "WHERE [r_2].[sync_id] = [r].[shelfID]))) END DOWN NULLS LAST"
        ),
    ]

    @Test("NULL is less than all values in an order of rows, and keys are never NULL", arguments: orders)
    func ordersRows(order: RowOrder, sql: String) throws {
        #expect(try records("Film").order(order) == "\(sql), [r].[id] UP")
    }

    @Test("The order by a composite key is the order of its parts")
    func ordersByParts() throws {
        func part(_ name: String) -> String {
            "(SELECT [r_shelfID].[\(name)] FROM [Shelf] AS [r_shelfID] WHERE [r_shelfID].[sync_id] = [r].[shelfID])"
        }
        #expect(
            try records("Label").order(.byKey)
                == "\(part("room")) COLLATE bytewise UP NULLS FIRST, \(part("number")) UP NULLS FIRST, "
                + "[r].[day] UP NULLS FIRST, [r].[sync_id] UP")
    }

    @Test("Related rows are in the order of the relationship, with rows without a position last")
    func ordersRelatedRows() throws {
        let media = try entity("Media")
        let tags = try TargetSQL(#require(media.relationship(named: "tags")), of: media, layout, dialect)
        #expect(tags.rows == "FROM [Tag] AS [r] JOIN [Media_tags] AS [j] ON [j].[tagID] = [r].[name]")
        #expect(tags.ownerKey == "[j].[mediaID]")
        #expect(try tags.order == "[j].[sync_order] UP NULLS LAST, [r].[name] COLLATE bytewise UP")
        let shelf = try TargetSQL(#require(media.relationship(named: "shelf")), of: media, layout, dialect)
        #expect(shelf.rows == "FROM [Shelf] AS [r] JOIN [Media] AS [o] ON [o].[shelfID] = [r].[sync_id]")
        #expect(try shelf.order == nil)
    }

    // MARK: Keys

    @Test("A key has a typed parameter for each part")
    func keyHasTypedParameters() throws {
        let key = try #require(KeyColumns(entity("Label"), layout, dialect))
        #expect(
            key.condition(of: "t")
                == "[t].[shelfID] = (SELECT [t_shelfID].[sync_id] FROM [Shelf] AS [t_shelfID] "
                + "WHERE [t_shelfID].[room] = $1:string AND [t_shelfID].[number] = $2:integer) AND [t].[day] = $3:date")
    }

    @Test("A key of any type is converted to the types of a key")
    func keyOfAnyTypeIsConverted() throws {
        let label = try #require(KeyColumns(entity("Label"), layout, dialect))
        #expect(
            label.leaves(ofKey: "k") == [
                "element(key(k, string), 0/0, string)", "element(key(k, string), 0/1, integer)",
                "element(key(k, string), 1, date)",
            ])
        #expect(try #require(KeyColumns(entity("Media"), layout, dialect)).leaves(ofKey: "k") == ["key(k, integer)"])
    }

    // MARK: Links

    @Test("Statements about links have typed parameters, and the order of the relationship")
    func statementsAboutLinks() throws {
        let tags = LinkSQL(try association("Media", "tags"), .first, layout, dialect)
        #expect(
            tags.links
                == "SELECT [tagID], [sync_order], NULL FROM [Media_tags] WHERE [mediaID] = $1:integer AND EXISTS "
                + "(SELECT 1 FROM [Tag] AS target WHERE target.[name] = [Media_tags].[tagID]) "
                + "ORDER BY [sync_order] UP NULLS LAST, [tagID] UP")
        #expect(tags.link == "SELECT 1 FROM [Media_tags] WHERE [mediaID] = $1:integer AND [tagID] = $2:string")
        #expect(
            tags.positionUpdate
                == "UPDATE [Media_tags] SET [sync_order] = $1:integer WHERE [mediaID] = $2:integer AND [tagID] = $3:string"
        )
        let director = LinkSQL(try association("Film", "director"), .second, layout, dialect)
        #expect(
            director.links == "SELECT [id], NULL, NULL FROM [Media] WHERE [directorID] = $1:string ORDER BY [id] UP")
        #expect(director.positionUpdate == nil)
    }

    @Test("The next position follows the positions of links and of pending references")
    func nextPosition() throws {
        let shelf = try association("Media", "shelf")
        #expect(LinkSQL(shelf, .first, layout, dialect).nextPosition == nil)
        #expect(
            LinkSQL(shelf, .second, layout, dialect).nextPosition == """
                SELECT largest((SELECT next([sync_shelf_order]) FROM [Media] WHERE [shelfID] = $1:integer), \
                (SELECT next(position) FROM sync_pending
                   WHERE owner_entity IN (u'Shelf') AND owner_key = any_key($1:integer)
                   AND relationship = u'media'))
                """)
    }

    @Test("Statements about join rows have typed parameters")
    func statementsAboutJoinRows() throws {
        let rows = try #require(JoinRowSQL(association("Media", "tags").id, layout, dialect))
        let all = "SELECT [mediaID], [tagID], [sync_order], NULL FROM [Media_tags]"
        #expect(rows.all == all)
        #expect(rows.joinRows(ofRowAt: .first) == "\(all) WHERE [mediaID] = $1:integer")
        #expect(rows.joinRows(ofRowAt: .second) == "\(all) WHERE [tagID] = $1:string")
        #expect(rows.one == "\(all) WHERE [mediaID] = $1:integer AND [tagID] = $2:string")
        #expect(rows.removal == "DELETE FROM [Media_tags] WHERE [mediaID] = $1:integer AND [tagID] = $2:string")
        #expect(rows.columns == ["[mediaID]", "[tagID]", "[sync_order]"])
        #expect(try JoinRowSQL(association("Media", "shelf").id, layout, dialect) == nil)
    }
}
