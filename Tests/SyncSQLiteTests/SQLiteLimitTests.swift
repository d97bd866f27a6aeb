import GRDB
import SyncCore
import SyncSQLite
import Testing

@Suite("Limits of SQLite")
struct SQLiteLimitTests {
    private let stack: DataStack

    init() throws {
        stack = try .inMemory(
            SyncModel(entities: [
                SyncModel.Entity(
                    "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)],
                    relationships: [SyncModel.Relationship("boss", to: "User")])
            ]))
        try stack.write { db in
            try db.execute(sql: "INSERT INTO User (id, name) VALUES (1, '\(String(repeating: "a", count: 40))')")
        }
    }

    @Test("An order with too many terms is rejected")
    func rejectsTooManyOrderTerms() throws {
        let order = RowOrder(Array(repeating: "name", count: 3000))
        let error = try #require(throws: SyncError.self) { try stack.fetch("User", orderedBy: order) }
        #expect(error.code == .invalidOption)
        #expect(error.message == "the order has too many terms for SQLite")
    }

    @Test("A condition through too many relationships is rejected")
    func rejectsTooLongPath() throws {
        let path = String(repeating: "boss.", count: 300) + "name"
        let error = try #require(throws: SyncError.self) { try stack.count("User", where: .where("%K == 'x'", path)) }
        #expect(error.code == .invalidPredicate)
        #expect(error.message == "a path of the predicate is too long for SQLite")
    }

    @Test("A regular expression with exponential backtracking is rejected")
    func rejectsEndlessExpression() throws {
        let endless = RowPredicate.where("name MATCHES '(a+)+b'")
        let error = try #require(throws: SyncError.self) { try stack.count("User", where: endless) }
        #expect(error.code == .invalidPredicate)
        #expect(error.message.hasPrefix("MATCHES takes too many steps"))
        #expect(try stack.count("User", where: .where("name MATCHES '(a+)+'")) == 1)
    }
}
