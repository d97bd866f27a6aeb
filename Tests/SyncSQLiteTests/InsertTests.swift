import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

@Suite struct InsertTests {
    @Test func valuesOfEveryTypeAreReadAsInserted() throws {
        let stack = try DataStack.inMemory(Models.everyType())
        let uuid = UUID()
        let values: [String: StoredValue] = [
            "id": .integer(1), "integerValue": .integer(.max), "doubleValue": .double(0.1 + 0.2),
            "decimalValue": .decimal(Decimal(string: "12345678901234567890.5") ?? 0), "booleanValue": .boolean(true),
            "stringValue": .string("é\u{0}\"'"), "dateValue": .date(Date(timeIntervalSince1970: 1.5)),
            "uuidValue": .uuid(uuid), "urlValue": .url("https://example.com/a"),
            "binaryValue": .binary(Data([0, 255])), "jsonValue": .json(["b": 1, "a": [true, nil, "x"]]),
            "transformableValue": .json("x"),
        ]
        try stack.insert("Thing", storedValues: values)
        let record = try #require(try stack.fetch("Thing", id: 1))
        for (name, value) in values where name != "jsonValue" { #expect(record[name] == value, "\(name)") }
        #expect(record["nothing"] == nil)
        #expect(record.key == .integer(1))
        #expect(record["jsonValue"]?.json == ["a": [true, nil, "x"], "b": 1])
        let row = try #require(try stack.read { db in try Row.fetchOne(db, sql: "SELECT * FROM Thing") })
        #expect(row["dateValue"] == "1970-01-01 00:00:01.500")
        #expect(row["uuidValue"] == uuid.uuidString)
        #expect(row["decimalValue"] == "12345678901234567890.5")
        #expect(row["jsonValue"] == #"{"a":[true,null,"x"],"b":1}"#)
        #expect(row["booleanValue"] == 1)
    }

    @Test func linksOfEveryKindAreReadFromBothEnds() throws {
        let stack = try DataStack.inMemory(Models.links())
        let company = try stack.insert("Company", values: ["id": 1])
        let passport = try stack.insert("Passport", values: ["number": "P1"])
        let notes = try [3, 1, 2].map { try stack.insert("Note", values: ["id": JSONValue($0)]) }
        let tags = try (0..<2).map { _ in try stack.insert("Tag", values: ["uuid": JSONValue(UUID())]) }
        let photos = try [1, 2].map { try stack.insert("Photo", values: ["id": JSONValue($0)]) }
        let boss = try stack.insert("User", values: ["id": 1])
        let user = try stack.insert(
            "User", values: ["id": 2],
            relationships: [
                "company": [company], "passport": [passport], "notes": notes, "tags": tags, "photos": photos,
                "avatar": [photos[1]], "manager": [boss], "friends": [boss], "spouse": [boss],
            ])
        for (relationship, expected) in [
            ("company", [company]), ("passport", [passport]), ("notes", notes), ("tags", tags), ("photos", photos),
            ("avatar", [photos[1]]), ("manager", [boss]), ("friends", [boss]), ("spouse", [boss]), ("reports", []),
        ] {
            #expect(try stack.fetchRelated(relationship, of: user) == expected, "\(relationship)")
        }
        #expect(try stack.fetchRelated("users", of: company) == [user])
        #expect(try stack.fetchRelated("user", of: passport) == [user])
        #expect(try stack.fetchRelated("user", of: notes[0]) == [user])
        #expect(try stack.fetchRelated("users", of: tags[0]) == [user])
        #expect(try stack.fetchRelated("reports", of: boss) == [user])
        #expect(try stack.fetchRelated("friends", of: boss) == [user])
        #expect(try stack.fetchRelated("spouse", of: boss) == [user])
        #expect(throws: SyncError.self) { try stack.fetchRelated("enemies", of: boss) }
    }

    @Test func defaultsReplaceMissingValuesAndNilsOfRequiredAttributes() throws {
        let stack = try DataStack.inMemory(Models.trees())
        let cat = try stack.insert("Cat", values: ["id": 1, "name": nil, "lives": nil])
        #expect(cat["name"]?.string == "?")
        #expect(cat["lives"] == .null)
        #expect(try stack.insert("Cat", values: ["id": 2])["lives"]?.int == 9)
    }

    @Test(
        arguments: [
            ("Nothing", [:], .unknownEntity), ("Animal", [:], .abstractEntity),
            ("Cat", ["age": 1], .unknownAttribute), ("Cat", ["tricks": 1], .unknownAttribute),
            ("Cat", ["id": "x"], .typeMismatch), ("Dog", ["id": 2], .typeMismatch),
            ("Dog", ["id": 1, "tricks": 2], .duplicateKey), ("Film", ["code": 7], .duplicateKey),
        ] as [(String, [String: JSONValue], SyncError.Code)])
    func invalidInsertsThrowTypedErrorsAndWriteNothing(
        _ entity: String, _ values: [String: JSONValue], _ code: SyncError.Code
    ) throws {
        let stack = try DataStack.inMemory(Models.trees())
        try stack.insert("Cat", values: ["id": 1])
        try stack.insert("Short", values: ["code": 7])
        let before = try stack.read { db in db.totalChangesCount }
        let error = try #require(throws: SyncError.self) { try stack.insert(entity, values: values) }
        #expect(error.code == code)
        #expect(try stack.read { db in db.totalChangesCount } == before)
    }

    @Test(arguments: ["company", "company_id", "companyID"])
    func relationshipsAmongTheValuesAreReportedAsRelationships(_ name: String) throws {
        let stack = try DataStack.inMemory(Models.links())
        let error = try #require(throws: SyncError.self) { try stack.insert("User", values: [name: 1]) }
        #expect(
            error.message.hasSuffix("; 'company' is a relationship: set its rows with 'relationships'"),
            "\(error.message)")
    }

    @Test func invalidLinksThrowTypedErrorsAndWriteNothing() throws {
        let stack = try DataStack.inMemory(Models.links())
        let photo = try stack.insert("Photo", values: ["id": 1])
        let other = try stack.insert("Photo", values: ["id": 2])
        let cases: [([String: [SyncRow]], SyncError.Code)] = [
            (["enemies": [photo]], .unknownRelationship), (["avatar": [photo, other]], .typeMismatch),
            (["company": [photo]], .typeMismatch),
        ]
        for (links, code) in cases {
            let error = try #require(throws: SyncError.self) { try stack.insert("User", relationships: links) }
            #expect(error.code == code)
        }
        try stack.deleteAllRows()
        let error = try #require(throws: SyncError.self) {
            try stack.insert("User", relationships: ["avatar": [photo]])
        }
        #expect(error.code == .rowNotFound)
        #expect(try stack.count("User") == 0)
    }

    @Test func linkedRowsMoveIfTheInverseIsToOne() throws {
        let stack = try DataStack.inMemory(Models.links())
        let passport = try stack.insert("Passport", values: ["number": "P"])
        let note = try stack.insert("Note", values: ["id": 1])
        let first = try stack.insert(
            "User", values: ["id": 1], relationships: ["passport": [passport], "notes": [note]])
        let second = try stack.insert(
            "User", values: ["id": 2], relationships: ["passport": [passport], "notes": [note], "spouse": [first]])
        #expect(try stack.fetchRelated("passport", of: first).isEmpty)
        #expect(try stack.fetchRelated("notes", of: first).isEmpty)
        #expect(try stack.fetchRelated("notes", of: second) == [note])
        let third = try stack.insert("User", values: ["id": 3], relationships: ["spouse": [first]])
        #expect(try stack.fetchRelated("spouse", of: second).isEmpty)
        #expect(try stack.fetchRelated("spouse", of: first) == [third])
        let child = try stack.insert("Passport", values: ["number": "Q"], relationships: ["user": [second]])
        #expect(try stack.fetchRelated("passport", of: second) == [child])
        #expect(try stack.fetchRelated("user", of: passport).isEmpty)
    }

    @Test func bothEndsOfAnOrderedAssociationKeepTheirOrder() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "A", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("bs", to: "B", many: true, ordered: true, inverse: "as")]),
            SyncModel.Entity(
                "B", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("as", to: "A", many: true, ordered: true, inverse: "bs")]),
        ])
        let stack = try DataStack.inMemory(model)
        let bs = try [3, 1, 2].map { try stack.insert("B", values: ["id": JSONValue($0)]) }
        let second = try stack.insert("A", values: ["id": 2], relationships: ["bs": bs])
        let first = try stack.insert("A", values: ["id": 1], relationships: ["bs": bs.reversed()])
        #expect(try stack.fetchRelated("bs", of: second) == bs)
        #expect(try stack.fetchRelated("bs", of: first) == bs.reversed())
        #expect(try stack.fetchRelated("as", of: bs[0]) == [second, first])
    }

    @Test func linksToTablesWithASurrogateKeyStoreThatKey() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("address", to: "Address", inverse: "user")]),
            SyncModel.Entity(
                "Address", attributes: [SyncModel.Attribute("city", .string)],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "address")]),
        ])
        let stack = try DataStack.inMemory(model)
        try stack.insert("Address", values: ["city": "Rome"])
        let address = try stack.insert("Address", values: ["city": "Oslo"])
        let user = try stack.insert("User", values: ["id": 9], relationships: ["address": [address]])
        #expect(try stack.fetchRelated("address", of: user) == [address])
        #expect(try stack.fetchRelated("user", of: address) == [user])
        #expect(address.key == .integer(2))
        let error = try #require(throws: SyncError.self) { try stack.fetch("Address", id: 1) }
        #expect(error.code == .keylessEntity)
        #expect(
            try #require(throws: SyncError.self) { try stack.makeTemporaryKey(for: "Address") }.code == .keylessEntity)
    }

    @Test func insertsKeepForeignKeysAndIntegrity() throws {
        let stack = try DataStack.inMemory(Models.links())
        let boss = try stack.insert("User")
        let tag = try stack.insert("Tag")
        try stack.insert(
            "User", relationships: ["manager": [boss], "friends": [boss], "spouse": [boss], "tags": [tag, tag]])
        let (broken, integrity) = try stack.read { db in
            (
                try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count,
                try String.fetchAll(db, sql: "PRAGMA integrity_check")
            )
        }
        #expect(broken == 0)
        #expect(integrity == ["ok"])
    }

    @Test func asyncCallsHaveTheSameNames() async throws {
        let stack = try DataStack.inMemory(Models.links())
        let company = try await stack.insert("Company", values: ["id": 1, "name": "Apple"])
        let user = try await stack.insert("User", values: ["id": 2], relationships: ["company": [company]])
        #expect(try stack.fetch("User") == [user])
        #expect(try stack.fetch("User", id: 2) == user)
        #expect(try stack.count("User") == 1)
        #expect(try stack.fetchRelated("users", of: company) == [user])
        #expect(try stack.fetch("User", where: "company.name == 'Apple'", orderedBy: "name") == [user])
        #expect(try stack.count("User", where: "ANY tags.uuid == nil") == 0)
        #expect(try await stack.write { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM User") } == 1)
    }
}
