import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

/// A store that is read and written by plain GRDB records.
@Suite struct PlainRecordTests {
    struct Thing: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: Int64
        var integerValue: Int64?
        var doubleValue: Double?
        var decimalValue: Decimal?
        var booleanValue: Bool?
        var stringValue: String?
        var dateValue: Date?
        var uuidValue: UUID?
        var urlValue: URL?
        var binaryValue: Data?
        var jsonValue: [String: Int]?

        /// The only customization that a record with a UUID needs.
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }
    }

    struct Dog: Codable, FetchableRecord, TableRecord {
        var id: Int64
        var name: String
        var tricks: Int?
    }

    private let uuid = UUID()

    private func thing(_ id: Int64) -> Thing {
        Thing(
            id: id, integerValue: -5, doubleValue: 0.1, decimalValue: Decimal(string: "3.14159"), booleanValue: true,
            stringValue: "text", dateValue: Date(timeIntervalSince1970: 1_709_231_399.5), uuidValue: uuid,
            urlValue: URL(string: "https://example.com/x?y=1"), binaryValue: Data([1, 2, 3]), jsonValue: ["a": 1])
    }

    @Test func recordsReadRowsWrittenByTheStore() throws {
        let stack = try DataStack.inMemory(Models.everyType())
        try stack.insert(
            "Thing",
            values: [
                "id": 1, "integerValue": -5, "doubleValue": 0.1, "decimalValue": 3.14159, "booleanValue": true,
                "stringValue": "text", "dateValue": "2024-02-29T18:29:59.500Z", "uuidValue": JSONValue(uuid),
                "urlValue": "https://example.com/x?y=1", "binaryValue": "AQID", "jsonValue": ["a": 1],
            ])
        let read = try stack.read { db in try Thing.fetchOne(db, key: 1) }
        #expect(read == thing(1))
    }

    @Test func theStoreReadsRowsWrittenByRecords() throws {
        let stack = try DataStack.inMemory(Models.everyType())
        let thing = thing(2)
        try stack.write { db in try thing.insert(db) }
        let record = try #require(try stack.fetch("Thing", id: 2))
        #expect(record["integerValue"]?.int == -5)
        #expect(record["doubleValue"]?.double == 0.1)
        #expect(record["decimalValue"]?.decimal == Decimal(string: "3.14159"))
        #expect(record["booleanValue"]?.bool == true)
        #expect(record["stringValue"]?.string == "text")
        #expect(record["dateValue"]?.date == thing.dateValue)
        #expect(record["uuidValue"]?.uuid == uuid)
        #expect(record["urlValue"]?.url == thing.urlValue)
        #expect(record["binaryValue"]?.binary == Data([1, 2, 3]))
        #expect(record["jsonValue"]?.json == ["a": 1])
    }

    @Test func recordsStoreUUIDsAsUpperCaseText() throws {
        let stack = try DataStack.inMemory(Models.everyType())
        try stack.write { db in try thing(1).insert(db) }
        let text = try stack.read { db in try String.fetchOne(db, sql: "SELECT uuidValue FROM Thing") }
        #expect(text == uuid.uuidString)
        let found = try stack.read { db in try Thing.filter(Column("uuidValue") == uuid.uuidString).fetchCount(db) }
        #expect(found == 1)
    }

    @Test func strictTablesRejectValuesOfAnotherType() throws {
        let stack = try DataStack.inMemory(Models.everyType())
        #expect(throws: DatabaseError.self) {
            try stack.write { db in try db.execute(sql: "INSERT INTO Thing (id, integerValue) VALUES (1, 'x')") }
        }
        #expect(try stack.count("Thing") == 0)
    }

    @Test func recordsReadTheViewOfASubEntity() throws {
        let stack = try DataStack.inMemory(Models.trees())
        try stack.insert("Dog", values: ["id": 1, "name": "Rex", "tricks": 3])
        try stack.insert("Cat", values: ["id": 2])
        let dogs = try stack.read { db in try Dog.fetchAll(db) }
        #expect(dogs.map(\.name) == ["Rex"])
    }
}
