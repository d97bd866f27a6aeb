import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

@Suite struct InsertTests {
    @Test func aRowOfEveryTypeReadsAsItWasInserted() throws {
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
            links: [
                "company": [company], "passport": [passport], "notes": notes, "tags": tags, "photos": photos,
                "avatar": [photos[1]], "manager": [boss], "friends": [boss], "spouse": [boss],
            ])
        for (relationship, expected) in [
            ("company", [company]), ("passport", [passport]), ("notes", notes), ("tags", tags), ("photos", photos),
            ("avatar", [photos[1]]), ("manager", [boss]), ("friends", [boss]), ("spouse", [boss]), ("reports", []),
        ] {
            #expect(try stack.targets(of: user, relationship) == expected, "\(relationship)")
        }
        #expect(try stack.targets(of: company, "users") == [user])
        #expect(try stack.targets(of: passport, "user") == [user])
        #expect(try stack.targets(of: notes[0], "user") == [user])
        #expect(try stack.targets(of: tags[0], "users") == [user])
        #expect(try stack.targets(of: boss, "reports") == [user])
        #expect(try stack.targets(of: boss, "friends") == [user])
        #expect(try stack.targets(of: boss, "spouse") == [user])
        #expect(throws: SyncError.self) { try stack.targets(of: boss, "enemies") }
    }
}
