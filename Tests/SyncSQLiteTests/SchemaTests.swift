import Foundation
import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

@Suite struct SchemaTests {
    private func rows(_ stack: DataStack, _ sql: String) throws -> [Row] {
        try stack.read { db in try Row.fetchAll(db, sql: sql) }
    }

    private func column(_ stack: DataStack, _ sql: String) throws -> [String] {
        try stack.read { db in try String.fetchAll(db, sql: sql) }
    }

    @Test func everyTableIsStrictAndHasARowid() throws {
        for model in try [Models.everyType(), Models.links(), Models.trees()] {
            let stack = try DataStack.inMemory(model)
            let tables = try rows(
                stack, "SELECT name, strict, wr FROM pragma_table_list WHERE type = 'table' AND schema = 'main'")
            for table in tables where table["name"] != "sqlite_schema" {
                #expect(table["strict"] == 1, "\(table)")
                #expect(table["wr"] == 0, "\(table)")
            }
            #expect(tables.count > 3)
        }
    }

    @Test func indexNamesAreUnique() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Post", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [
                    SyncModel.Relationship("category", to: "Category"),
                    SyncModel.Relationship("categoryid", to: "Category", many: true),
                ]),
            SyncModel.Entity("Category", attributes: [SyncModel.Attribute("id", .integer)]),
        ])
        let indexes = try column(
            DataStack.inMemory(model), "SELECT name FROM sqlite_schema WHERE name LIKE 'sync_index_%' ORDER BY name")
        #expect(indexes == ["sync_index_Post_categoryID", "sync_index_Post_categoryid_2"])
    }

    @Test func columnsHaveTheTypeOfTheirAttribute() throws {
        let stack = try DataStack.inMemory(Models.everyType())
        let types = try rows(stack, "SELECT name, type, pk FROM pragma_table_info('Thing') ORDER BY name").map {
            "\($0["name"] as String) \($0["type"] as String)\($0["pk"] == 1 ? " key" : "")"
        }
        #expect(
            types == [
                "binaryValue BLOB", "booleanValue INTEGER", "dateValue TEXT", "decimalValue TEXT", "doubleValue REAL",
                "id INTEGER key", "integerValue INTEGER", "jsonValue TEXT", "stringValue TEXT",
                "transformableValue TEXT", "urlValue TEXT", "uuidValue TEXT",
            ])
    }

    @Test func keysOfEveryTypeArePrimaryKeys() throws {
        for (type, expected) in [
            (AttributeType.integer, "INTEGER 0"), (.string, "TEXT 1"), (.uuid, "TEXT 1"), (.date, "TEXT 1"),
            (.decimal, "TEXT 1"), (.double, "REAL 1"),
        ] {
            let model = try SyncModel(entities: [
                SyncModel.Entity(
                    "Row", primaryKey: "code",
                    attributes: [
                        SyncModel.Attribute(
                            "code", type, isOptional: false, defaultValue: type == .integer ? .integer(1) : nil)
                    ])
            ])
            let stack = try DataStack.inMemory(model)
            let found = try rows(stack, "SELECT type, \"notnull\", dflt_value, pk FROM pragma_table_info('Row')")
            #expect(found.count == 1)
            #expect("\(found[0]["type"] as String) \(found[0]["notnull"] as Int)" == expected)
            #expect(found[0]["pk"] == 1)
            #expect(found[0]["dflt_value"] as String? == nil)
        }
    }

    @Test func requiredAttributesAreNotNullAndDefaultsAreDeclared() throws {
        let attributes = [
            SyncModel.Attribute("id", .integer),
            SyncModel.Attribute("name", .string, isOptional: false, defaultValue: .string("it's")),
            SyncModel.Attribute("age", .integer, isOptional: false),
            SyncModel.Attribute("score", .double, defaultValue: .double(1.5)),
            SyncModel.Attribute("flag", .boolean, defaultValue: .boolean(true)),
            SyncModel.Attribute("bytes", .binary, defaultValue: .binary(Data([1, 171]))),
        ]
        let stack = try DataStack.inMemory(SyncModel(entities: [SyncModel.Entity("Row", attributes: attributes)]))
        try stack.write { db in try db.execute(sql: "INSERT INTO Row (id, age) VALUES (1, 2)") }
        let row = try #require(try stack.fetch("Row", id: 1))
        #expect(row["name"]?.string == "it's")
        #expect(row["score"]?.double == 1.5)
        #expect(row["flag"]?.bool == true)
        #expect(row["bytes"]?.binary == Data([1, 171]))
        #expect(throws: DatabaseError.self) {
            try stack.write { db in try db.execute(sql: "INSERT INTO Row (id) VALUES (2)") }
        }
    }

    @Test func attributesOfSubEntitiesAreNullableInTheTable() throws {
        let stack = try DataStack.inMemory(Models.trees())
        let required = try column(stack, "SELECT name FROM pragma_table_info('Animal') WHERE \"notnull\" = 1")
        #expect(required.sorted() == ["name", "sync_entity"])
    }

    @Test func toOneRelationshipsAreIndexedDeferredForeignKeys() throws {
        let stack = try DataStack.inMemory(Models.links())
        let keys = try rows(
            stack, "SELECT \"from\", \"table\", \"to\", on_update, on_delete FROM pragma_foreign_key_list('User')"
        ).map { row in row.map { String.fromDatabaseValue($0.1) ?? "" }.joined(separator: " ") }
        #expect(
            Set(keys) == [
                "companyID Company id CASCADE SET NULL", "avatarID Photo id CASCADE SET NULL",
                "managerID User id CASCADE SET NULL", "spouseID User id CASCADE SET NULL",
            ])
        let indexed = try column(
            stack,
            """
            SELECT i.name FROM pragma_index_list('User') AS l JOIN pragma_index_info(l.name) AS i WHERE l.origin = 'c'
            """)
        #expect(Set(indexed) == ["companyID", "avatarID", "managerID", "spouseID"])
        let sql = try column(stack, "SELECT sql FROM sqlite_schema WHERE name = 'User'")[0]
        #expect(sql.components(separatedBy: "DEFERRABLE INITIALLY DEFERRED").count == 5)
    }

    @Test func foreignKeysCascadeIfTheInverseCascades() throws {
        let stack = try DataStack.inMemory(Models.links())
        let note = try rows(stack, "SELECT on_delete FROM pragma_foreign_key_list('Note')")
        #expect(note.map { $0["on_delete"] } == ["CASCADE"])
        let columns = try rows(stack, "SELECT name, type FROM pragma_table_info('Note')")
        #expect(columns.map { $0["name"] } == ["id", "userID", "sync_user_order"])
        let passport = try rows(stack, "SELECT \"from\", on_delete FROM pragma_foreign_key_list('Passport')")
        #expect(passport.map { $0["on_delete"] } == ["CASCADE"])
    }

    @Test func manyToManyAssociationsAreJoinTablesIndexedBothWays() throws {
        let stack = try DataStack.inMemory(Models.links())
        let name = try column(stack, "SELECT name FROM sqlite_schema WHERE name IN ('User_tags', 'Tag_users')")[0]
        let columns = try rows(stack, "SELECT name, type, \"notnull\", pk FROM pragma_table_info('\(name)')")
        let types = columns.map { "\($0["name"] as String) \($0["type"] as String) \($0["notnull"] as Int)" }
        #expect(types.contains("userID INTEGER 1"))
        #expect(types.contains("tagID TEXT 1"))
        #expect(types.count == 3)
        #expect(columns.map { $0["pk"] as Int } == [1, 2, 0])
        let keys = try rows(stack, "SELECT on_update, on_delete FROM pragma_foreign_key_list('\(name)')")
        #expect(keys.count == 2)
        for key in keys { #expect(key["on_update"] == "CASCADE" && key["on_delete"] == "CASCADE") }
        let indexes = try column(
            stack,
            """
            SELECT group_concat(i.name) FROM pragma_index_list('\(name)') AS l
            JOIN pragma_index_info(l.name) AS i GROUP BY l.name
            """)
        #expect(Set(indexes) == ["userID,tagID", "tagID,userID"])
    }

    @Test func joinTablesOfOneEntityHaveTwoColumns() throws {
        let stack = try DataStack.inMemory(Models.links())
        let columns = try column(stack, "SELECT name FROM pragma_table_info('User_friends')")
        #expect(columns == ["userID", "friendsID"])
    }

    @Test func hierarchiesWithACommonKeyHaveItAsPrimaryKey() throws {
        let stack = try DataStack.inMemory(Models.trees())
        let columns = try rows(stack, "SELECT name, pk FROM pragma_table_info('Animal')")
        #expect(columns.first { $0["pk"] == 1 }?["name"] == "id")
        #expect(columns.contains { $0["name"] == "kennelID" })
    }

    @Test func hierarchiesWithoutACommonKeyHaveASurrogateKeyAndUniqueKeys() throws {
        let stack = try DataStack.inMemory(Models.trees())
        let columns = try rows(stack, "SELECT name, pk FROM pragma_table_info('Media')")
        #expect(columns.first { $0["pk"] == 1 }?["name"] == "sync_id")
        let indexes = try column(stack, "SELECT sql FROM sqlite_schema WHERE name LIKE 'sync_key_%' ORDER BY name")
        #expect(
            indexes == [
                #"CREATE UNIQUE INDEX "sync_key_Book" ON "Media" ("isbn") WHERE "sync_entity" IN ('Book')"#,
                #"CREATE UNIQUE INDEX "sync_key_Film" ON "Media" ("code") WHERE "sync_entity" IN ('Film', 'Short')"#,
            ])
    }

    @Test func subEntitiesAreViews() throws {
        let stack = try DataStack.inMemory(Models.trees())
        try stack.insert("Dog", values: ["id": 1, "name": "Rex", "tricks": 3])
        try stack.insert("Cat", values: ["id": 2])
        let dogs = try rows(stack, "SELECT * FROM Dog")
        #expect(dogs.count == 1)
        #expect(dogs[0].columnNames.sorted() == ["id", "kennelID", "name", "ownerID", "sync_entity", "tricks"])
        let cats = try rows(stack, "SELECT * FROM Cat")
        #expect(cats.count == 1)
        #expect(cats[0]["lives"] == 9)
        #expect(!cats[0].hasColumn("tricks"))
    }

    @Test func unusualNamesAreQuoted() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "order",
                attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("say 'hi' [x]", .string)],
                relationships: [SyncModel.Relationship("group", to: "select", inverse: "from")]),
            SyncModel.Entity(
                "select", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("from", to: "order", many: true, inverse: "group")]),
        ])
        let stack = try DataStack.inMemory(model)
        let group = try stack.insert("select", values: ["id": 1])
        let order = try stack.insert(
            "order", values: ["id": 1, "say 'hi' [x]": "x"], relationships: ["group": [group]])
        #expect(try stack.fetchRelated("from", of: group) == [order])
    }
}
