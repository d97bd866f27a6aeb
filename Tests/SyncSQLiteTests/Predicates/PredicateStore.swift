import GRDB
import SyncCore
import SyncStore

@testable import SyncSQLite

/// A small store with tables made by hand, for tests of conditions.
///
/// Tests name each row by its `ref`.
struct PredicateStore {
    let layout: StoreLayout
    let queue: DatabaseQueue

    init() throws {
        let layout = StoreLayout(try Self.model().compiled)
        queue = try DatabaseQueue()
        self.layout = layout
        try queue.write { db in
            PredicateSQL.install(in: db)
            for tree in layout.model.hierarchies { try db.execute(sql: Self.table(tree, layout)) }
            for case .joinTable(let name, let first, let second, _, _) in layout.links {
                try db.execute(sql: "CREATE TABLE \"\(name)\" (\"\(first)\", \"\(second)\")")
            }
            try db.execute(sql: Self.rows)
        }
    }

    /// Returns the `ref`s of the rows of an entity for which a condition holds, sorted, in one string.
    func refs(_ predicate: RowPredicate, _ entity: String = "User") throws -> String {
        let entity = try layout.model.entity(named: entity)
        let condition = try PredicateSQL(predicate, on: entity, layout: layout, alias: "row")
        let family = PredicateSQL.familyCondition(entity, layout: layout, alias: "row") ?? "1"
        let table = layout[entity.table].name
        let sql = "SELECT ref, \(condition.sql) FROM \"\(table)\" AS row WHERE \(family) ORDER BY ref"
        let rows = try queue.read { db in
            try Row.fetchAll(db, sql: sql, arguments: StatementArguments(condition.databaseValues))
        }
        return try rows.filter { row in
            guard let holds = Int64.fromDatabaseValue(row[1]), holds == 0 || holds == 1 else {
                throw SyncError(.databaseError, "not two-valued: \(condition.sql)")
            }
            return holds == 1
        }.map { $0["ref"] as String }.joined()
    }

    private static func table(_ tree: EntityHierarchy, _ layout: StoreLayout) -> String {
        let table = layout[tree.id]
        var columns = table.hasSurrogateKey ? ["\"sync_id\" INTEGER PRIMARY KEY"] : []
        if table.hasEntityColumn { columns.append("\"sync_entity\" TEXT NOT NULL") }
        for (slot, attribute) in tree.attributes.enumerated() {
            let type =
                switch attribute.type {
                case .integer, .boolean: "INTEGER"
                case .double: "REAL"
                case .binary: "BLOB"
                default: "TEXT"
                }
            columns.append("\"\(attribute.name)\" \(type)\(tree.keySlot == slot ? " PRIMARY KEY NOT NULL" : "")")
        }
        for link in tree.foreignKeys {
            if case .foreignKey(_, let column, _) = layout[link] { columns.append("\"\(column)\" ANY") }
        }
        return "CREATE TABLE \"\(table.name)\" (\(columns.joined(separator: ", "))) STRICT"
    }

    private static func model() throws -> SyncModel {
        let ref = SyncModel.Attribute("ref", .string)
        let user = SyncModel.Entity(
            "User",
            attributes: [
                ref, SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string),
                SyncModel.Attribute("age", .integer),
                SyncModel.Attribute("balance", .decimal), SyncModel.Attribute("score", .double),
                SyncModel.Attribute("active", .boolean),
                SyncModel.Attribute("born", .date), SyncModel.Attribute("token", .uuid),
                SyncModel.Attribute("site", .url),
                SyncModel.Attribute("photo", .binary), SyncModel.Attribute("meta", .json),
                SyncModel.Attribute("secret", .transformable),
            ],
            relationships: [
                SyncModel.Relationship("company", to: "Company", inverse: "users"),
                SyncModel.Relationship("tags", to: "Tag", many: true, inverse: "users"),
                SyncModel.Relationship("friends", to: "User", many: true, inverse: "friends"),
                SyncModel.Relationship("passport", to: "Passport", inverse: "owner"),
                SyncModel.Relationship("boss", to: "User", inverse: "reports"),
                SyncModel.Relationship("reports", to: "User", many: true, inverse: "boss"),
                SyncModel.Relationship("address", to: "Address"),
                SyncModel.Relationship("animals", to: "Animal", many: true, inverse: "owner"),
                SyncModel.Relationship("spouse", to: "User", inverse: "spouse"),
                SyncModel.Relationship("favourite", to: "Dog", inverse: "fan"),
            ])
        return try SyncModel(entities: [
            user,
            SyncModel.Entity(
                "Company",
                attributes: [ref, SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)],
                relationships: [
                    SyncModel.Relationship("users", to: "User", many: true, inverse: "company"),
                    SyncModel.Relationship("country", to: "Country"),
                ]),
            SyncModel.Entity("Country", primaryKey: "code", attributes: [ref, SyncModel.Attribute("code", .string)]),
            SyncModel.Entity(
                "Tag", attributes: [ref, SyncModel.Attribute("id", .integer), SyncModel.Attribute("title", .string)],
                relationships: [
                    SyncModel.Relationship("users", to: "User", many: true, inverse: "tags"),
                    SyncModel.Relationship("company", to: "Company"),
                ]),
            SyncModel.Entity(
                "Passport", primaryKey: "number", attributes: [ref, SyncModel.Attribute("number", .string)],
                relationships: [SyncModel.Relationship("owner", to: "User", inverse: "passport")]),
            SyncModel.Entity("Address", attributes: [ref, SyncModel.Attribute("street", .string)]),
            SyncModel.Entity(
                "Animal", isAbstract: true, attributes: [ref],
                relationships: [SyncModel.Relationship("owner", to: "User", inverse: "animals")]),
            SyncModel.Entity(
                "Dog", parent: "Animal", primaryKey: "tag", attributes: [SyncModel.Attribute("tag", .integer)],
                relationships: [SyncModel.Relationship("fan", to: "User", inverse: "favourite")]),
            SyncModel.Entity(
                "Cat", parent: "Animal", primaryKey: "chip", attributes: [SyncModel.Attribute("chip", .string)]),
        ])
    }

    /// Users a to e. User d has no values. User e, its company and its tag have temporary keys.
    private static let rows = """
        INSERT INTO Country(ref, code) VALUES ('u', 'US'), ('l', 'local-0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'),
            ('h', 'local-hero');
        INSERT INTO Company(ref, id, name, countryID) VALUES ('a', 1, 'Apple', 'US'), ('b', 2, NULL, NULL),
            ('l', -9223372036854775808, 'Local', 'local-0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11');
        INSERT INTO Address(ref, sync_id, street) VALUES ('x', 1, 'A2');
        INSERT INTO User(ref, id, name, age, balance, score, active, born, token, site, photo, meta, secret, companyID,
            bossID, addressID) VALUES
            ('a', 1, 'Ann', 30, '10.5', 1.5, 1, '2024-02-29 18:29:59.999', '0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11',
                'http://a.b/C', x'010203', '{"a":1}', 's', 1, NULL, 1),
            ('b', 2, 'bob', 17, '-2', -0.5, 0, '1969-12-31 23:59:59.000', '1B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11',
                'http://a.b/d', x'', '5', NULL, 2, 1, NULL),
            ('c', 3, 'Straße' || char(0) || 'x', 0, '100', 0.0, NULL, NULL, NULL, NULL, NULL, '"x"', NULL, NULL, 1, NULL),
            ('d', 4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            ('e', -9223372036854775807, '', 17, '9007199254740993.25', 17.0, 1, '2024-02-29 18:30:00.000', NULL, '',
                NULL, 'null', NULL, -9223372036854775808, 2, NULL);
        UPDATE User SET spouseID = 3 - id WHERE id IN (1, 2);
        INSERT INTO Tag(ref, id, title, companyID) VALUES ('r', 1, 'red', 1), ('g', 2, 'Green', NULL),
            ('l', -9223372036854775808, NULL, 2), ('z', 9, 'unused', NULL);
        INSERT INTO Tag_users(tagID, userID) VALUES (1, 1), (2, 1), (2, 2), (-9223372036854775808, -9223372036854775807);
        INSERT INTO User_friends(userID, friendsID) VALUES (1, 2), (2, 1), (3, 3);
        INSERT INTO Passport(ref, number, ownerID) VALUES ('p', 'P1', 1), ('q', 'P2', NULL),
            ('l', 'local-1B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11', 2);
        INSERT INTO Animal(ref, sync_id, sync_entity, tag, chip, ownerID, fanID) VALUES
            ('d', 10, 'Dog', 1, NULL, 1, 2), ('e', 11, 'Dog', -9223372036854775808, NULL, 1, NULL),
            ('c', 12, 'Cat', NULL, '1', 2, NULL);
        """
}
