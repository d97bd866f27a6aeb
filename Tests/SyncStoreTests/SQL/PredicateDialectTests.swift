import SyncCore
import SyncStore
import Testing

@Suite("Conditions in another SQL dialect")
struct PredicateDialectTests {
    private let layout: StoreLayout

    init() throws {
        layout = StoreLayout(
            try SyncModel(entities: [
                SyncModel.Entity(
                    "User",
                    attributes: [
                        SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string),
                        SyncModel.Attribute("age", .integer), SyncModel.Attribute("balance", .decimal),
                        SyncModel.Attribute("active", .boolean), SyncModel.Attribute("born", .date),
                    ],
                    relationships: [
                        SyncModel.Relationship("country", to: "Country", inverse: "users"),
                        SyncModel.Relationship("tags", to: "Tag", many: true),
                    ]),
                SyncModel.Entity(
                    "Country", attributes: [SyncModel.Attribute("code", .string, isPrimaryKey: true)],
                    relationships: [SyncModel.Relationship("users", to: "User", many: true, inverse: "country")]),
                SyncModel.Entity("Tag", attributes: [SyncModel.Attribute("id", .integer)]),
                SyncModel.Entity("SpecialTag", parent: "Tag"),
            ]).compiled)
    }

    private func compiled(
        _ text: String, on entity: String = "User", for use: ConditionUse = .selection, after preceding: Int = 0,
        keeping capabilities: StoreCapabilities = .unlimited
    ) throws -> PredicateSQL {
        try PredicateSQL(
            .where(text), on: layout.model.entity(named: entity), layout: layout, alias: "u",
            dialect: ForeignDialect(), for: use, after: preceding, keeping: capabilities)
    }

    /// Conditions on users, and their SQL in the dialect.
    static let conditions: [(String, String)] = [
        ("TRUEPREDICATE", "(YES)"),
        ("id > 1e30", "(NO)"),
        ("id IN {}", "(NO)"),
        ("name < nil", "(NO)"),
        ("name == 'Ann'", "([u].[name] = $1:string)"),
        ("name !=[c] 'Ann'", "(NOT same(fold([u].[name]), $1:folded))"),
        ("name IN {'Ann', 'Bob'}", "(((among([u].[name], $1:string, $2:string))))"),
        ("name IN[c] {'Ann', 'Bob'}", "(((among(fold([u].[name]), $1:folded, $2:folded))))"),
        ("name < 'b'", "(([u].[name] < $1:string COLLATE bytewise))"),
        ("name >=[c] 'b'", "((fold([u].[name]) >= $1:folded COLLATE bytewise))"),
        ("balance > 1.5", "(([u].[balance] > $1:decimal))"),
        ("active == TRUE AND born == '1970-01-01T00:00:01Z'", "([u].[active] = $1:boolean AND [u].[born] = $2:date)"),
        (
            "name CONTAINS 'a' AND name BEGINSWITH[c] 'A'",
            "((has([u].[name], $1:string)) AND (begins_folded([u].[name], $2:folded)))"
        ),
        (
            "name ENDSWITH 'a' OR NOT name LIKE 'a*'",
            "(NOT sure(like([u].[name], $1:string)) OR (ends([u].[name], $2:string)))"
        ),
        ("name MATCHES 'a.'", "((matches([u].[name], $1:string)))"),
        ("name CONTAINS ''", "([u].[name] IS NOT NULL)"),
        (
            "country.code == nil",
            "((CASE WHEN made_here([u].[countryID]) THEN NULL ELSE [u].[countryID] END) IS NULL)"
        ),
        (
            "ANY tags.id == 1",
            "(EXISTS (SELECT 1 FROM [User_tags] AS [u_2], [Tag] AS [u_1] WHERE [u_2].[userID] = [u].[id]"
                + " AND [u_1].[id] = [u_2].[tagID] AND [u_1].[id] = $1:integer))"
        ),
        (
            "tags.@count > 1",
            "(((SELECT count(*) FROM [User_tags] AS [u_2], [Tag] AS [u_1] WHERE [u_2].[userID] = [u].[id]"
                + " AND [u_1].[id] = [u_2].[tagID]) > $1:integer))"
        ),
        ("age + 1 > 2", "((whole([u].[age] + $1:integer) > $2:integer))"),
        ("age / 2 + 0.5 == 1.5", "((same_or_null((double(whole([u].[age] / $1:integer)) +. $2:double), $3:double)))"),
    ]

    /// Conditions on users that are negated, so that NULL must not be in place of false.
    static let negated: [(String, String)] = [
        ("name == 'Ann'", "(NOT same([u].[name], $1:string))"),
        ("name != 'Ann'", "(NOT NOT same([u].[name], $1:string))"),
        ("name < 'b'", "(NOT ([u].[name] < $1:string COLLATE bytewise AND [u].[name] IS NOT NULL))"),
        ("name IN {'Ann'}", "(NOT ((among([u].[name], $1:string) AND [u].[name] IS NOT NULL)))"),
        ("id == 1 AND name == 'Ann'", "(NOT same([u].[id], $1:integer) OR NOT same([u].[name], $2:string))"),
        (
            "ANY tags.id == 1",
            "(NOT EXISTS (SELECT 1 FROM [User_tags] AS [u_2], [Tag] AS [u_1] WHERE [u_2].[userID] = [u].[id]"
                + " AND [u_1].[id] = [u_2].[tagID] AND [u_1].[id] = $1:integer))"
        ),
        (
            "ALL tags.id == 1",
            "(NOT NOT EXISTS (SELECT 1 FROM [User_tags] AS [u_2], [Tag] AS [u_1] WHERE [u_2].[userID] = [u].[id]"
                + " AND [u_1].[id] = [u_2].[tagID] AND NOT same([u_1].[id], $1:integer)))"
        ),
    ]

    @Test("A condition uses the SQL of its dialect, and nothing of SQLite", arguments: conditions)
    func usesDialect(text: String, sql: String) throws {
        #expect(try compiled(text).sql == sql)
    }

    @Test("A negated comparison is not NULL, and other comparisons can use an index", arguments: negated)
    func negatedComparisonIsNotNull(text: String, sql: String) throws {
        #expect(try compiled("NOT (\(text))").sql == sql)
    }

    @Test("A condition that is a value is not NULL")
    func valueIsNotNull() throws {
        #expect(try compiled("name == 'Ann'", for: .value).sql == "(same([u].[name], $1:string))")
        #expect(try compiled("name >=[c] 'b'", for: .value).sql.hasPrefix("(sure("))
        #expect(try compiled("name CONTAINS 'a'", for: .value).sql == "(sure(has([u].[name], $1:string)))")
        #expect(try compiled("age + 1 > 2", for: .value).sql.hasPrefix("(sure(whole("))
    }

    @Test("Values are bound as the dialect stores them, in the order of their placeholders")
    func bindsValuesOfDialect() throws {
        let condition = try compiled(
            "name ==[c] 'Ann' AND balance > 1.50 AND active == TRUE AND born == '1970-01-01T00:00:01Z' AND id < 7")
        #expect(
            condition.arguments == [
                .text("folded ann"), .text("decimal 1.5"), .text("yes"), .integer(1000), .integer(7),
            ])
    }

    @Test("Placeholders are numbered after those of the statement")
    func numbersPlaceholdersAfterStatement() throws {
        let condition = try compiled("id == 1 OR name == 'Ann'", after: 2)
        #expect(condition.sql == "([u].[id] = $3:integer OR [u].[name] = $4:string)")
        #expect(condition.arguments == [.integer(1), .text("Ann")])
    }

    @Test("A condition with more values than the dialect binds is rejected")
    func limitsBoundValues() throws {
        let tooMany = "id IN {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}"
        let error = try #require(throws: SyncError.self) { try compiled(tooMany) }
        #expect(error.code == .invalidPredicate)
        #expect(error.message.contains("more than 10 values"))
    }

    @Test("A condition binds no value that the store cannot keep")
    func bindsKeptValues() throws {
        let condition = try compiled(
            "id IN {1, 2000} AND name != 'a\\u0000'", keeping: LimitedStore.capabilities)
        #expect(condition.arguments == [.integer(1)])
    }

    @Test("The entity condition is quoted by the dialect")
    func quotesEntityCondition() throws {
        let special = try layout.model.entity(named: "SpecialTag")
        let condition = PredicateSQL.familyCondition(special, layout: layout, alias: "t", dialect: ForeignDialect())
        #expect(condition == "[t].[sync_entity] IN (u'SpecialTag')")
    }
}
