import GRDB
import Testing

@testable import SyncSQLite

@Suite("SQL quoting")
struct QuotingTests {
    @Test(
        "A quoted name or text is read back exactly",
        arguments: ["plain", "a\"b", "it's", "\"", "a\"\u{301}b", "it'\u{301}s", "\u{1F468}\u{200D}\"", "é\"'"])
    func readsBackQuotedText(name: String) throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE \(SchemaSQL.quoted(name)) (\(SchemaSQL.quoted(name)) TEXT)")
            try db.execute(sql: "INSERT INTO \(SchemaSQL.quoted(name)) VALUES (\(SchemaSQL.literal(name)))")
            let read = try Row.fetchOne(db, sql: "SELECT * FROM \(SchemaSQL.quoted(name))")
            #expect(read?.columnNames.first?.unicodeScalars.elementsEqual(name.unicodeScalars) == true)
            #expect((read?[0] as String?)?.unicodeScalars.elementsEqual(name.unicodeScalars) == true)
        }
    }
}
