import Foundation
import GRDB
import SyncCore
import SyncStore
import Testing

@testable import SyncSQLite

@Suite struct TemporaryKeyTests {
    private func stack(_ type: AttributeType) throws -> DataStack {
        try DataStack.inMemory(
            SyncModel(entities: [
                SyncModel.Entity("Row", primaryKey: "code", attributes: [SyncModel.Attribute("code", type)])
            ]))
    }

    @Test func temporaryIntegersCountUpFromTheSmallest() throws {
        let stack = try stack(.integer)
        #expect(try stack.makeTemporaryKey(for: "Row") == JSONValue(Int64.min))
        #expect(try stack.makeTemporaryKey(for: "Row") == JSONValue(Int64.min + 1))
        let record = try stack.insert("Row")
        #expect(record.key == .integer(.min + 2))
        #expect(record["code"] == .null)
        #expect(try stack.insert("Row").key == .integer(.min + 3))
    }

    @Test func temporaryIntegersContinueAfterTheStoredOnes() throws {
        let stack = try stack(.integer)
        try stack.write { db in
            try db.execute(
                sql: "INSERT INTO Row (code) VALUES (?), (?), (?)", arguments: [Int64.min + 9, 5, -(1 << 62)])
        }
        #expect(try stack.insert("Row").key == .integer(.min + 10))
    }

    @Test func onlyIntegersBelowTheBoundAreTemporary() throws {
        let stack = try stack(.integer)
        let bound = -(Int64(1) << 62)
        #expect(try stack.insert("Row", values: ["code": JSONValue(bound)])["code"]?.int == bound)
        #expect(try stack.insert("Row", values: ["code": JSONValue(bound - 1)])["code"] == .null)
    }

    @Test func temporaryStringsHaveAPrefixAndReadAsNil() throws {
        let stack = try stack(.string)
        let record = try stack.insert("Row")
        #expect(record.key.description.hasPrefix("local-"))
        #expect(record.key.description.count == 42)
        #expect(record["code"] == .null)
        #expect(try stack.fetch("Row")[0]["code"] == .null)
        #expect(try stack.insert("Row", values: ["code": "local-1"])["code"]?.string == "local-1")
    }

    @Test func newUUIDsAreNotTemporary() throws {
        let stack = try stack(.uuid)
        let record = try stack.insert("Row")
        #expect(record["code"]?.uuid?.uuidString == record.key.description)
    }

    @Test(arguments: [AttributeType.date, .decimal, .double]) func otherKeysCannotBeMade(_ type: AttributeType) throws {
        let stack = try stack(type)
        let error = try #require(throws: SyncError.self) { try stack.insert("Row") }
        #expect(error.code == .primaryKeyMissing)
        #expect(try stack.count("Row") == 0)
    }

    @Test func keysFromNewKeyCanBeInserted() throws {
        let stack = try stack(.integer)
        let keys = try (0..<3).map { _ in try stack.makeTemporaryKey(for: "Row") }
        for key in keys.reversed() { try stack.insert("Row", values: ["code": key]) }
        #expect(try stack.fetch("Row").map(\.key) == [.integer(.min), .integer(.min + 1), .integer(.min + 2)])
    }

    @Test("Swift and SQL agree on which texts are temporary keys")
    func swiftAndSQLAgreeOnTemporaryTexts() throws {
        let uuid = "0F8FAD5B-D9CB-469F-A165-70867728950E"
        let texts = [
            "local-\(uuid)", "local-\(uuid.lowercased())", "local-\(String(repeating: "z", count: 36))",
            "local-\(String(repeating: "-", count: 36))", "local-\(uuid.dropLast())", "local-\(uuid)0", "LOCAL-\(uuid)",
            "local-\(uuid.replacingOccurrences(of: "-", with: "0"))",
            "local-\(uuid.replacingOccurrences(of: "F", with: "G"))",
            "local-é\(uuid.dropFirst(2))", "local-", "", uuid, " local-\(uuid)",
        ]
        let areLocal = texts.map { RowKey.text($0).isLocal }
        #expect(areLocal == [true, true] + Array(repeating: false, count: texts.count - 2))
        let areInSQL = try stack(.string).read { db in
            try texts.map { text in
                let sql = "SELECT \(SQLiteDialect().isLocalKey("x")) FROM (SELECT ? AS x)"
                return try Bool.fetchOne(db, sql: sql, arguments: [text]) ?? false
            }
        }
        #expect(areInSQL == areLocal)
    }
}
