import Foundation
import GRDB
import Sync
import Testing

/// The database of an import, opened by programs that do not use Sync.
@Suite("Other readers of an imported database")
struct OtherProgramTests {
    private struct Company: Codable, FetchableRecord, TableRecord, Equatable {
        var id: Int64
        var name: String
        var city: String?
    }

    private struct Note: Codable, FetchableRecord, TableRecord, Equatable {
        var id: Int64
        var text: String
        var createdAt: Date
        var userID: Int64
    }

    private struct User: Codable, FetchableRecord, TableRecord, EncodableRecord, Equatable {
        var id: Int64
        var firstName: String
        var lastName: String
        var email: String
        var age: Int
        var joinedAt: Date
        var companyID: Int64?

        static let company = belongsTo(Company.self)
        static let notes = hasMany(Note.self)
    }

    private struct Employment: Codable, FetchableRecord {
        var user: User
        var company: Company?
    }

    @Test("Plain Codable records read an imported database, with dates and missing links")
    func codableRecordsReadRows() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let queue = try DatabaseQueue(path: folder.database.path)
        let users = try await queue.read { db in try User.order(Column("id")).fetchAll(db) }
        #expect(users.map(\.id) == Array(1...8))
        #expect(
            users.first
                == User(
                    id: 1, firstName: "Ada", lastName: "Lovelace", email: "ada@example.com", age: 36,
                    joinedAt: Date(timeIntervalSince1970: 1_677_657_600), companyID: 1))
        #expect(users.map(\.companyID) == [1, 2, 2, 3, 3, 1, nil, 2])
        let notes = try await queue.read { db in try Note.order(Column("id")).fetchAll(db) }
        #expect(notes.map(\.userID) == [1, 1, 3, 3, 4, 6, 6])
        #expect(notes.first?.createdAt == Date(timeIntervalSince1970: 1_704_879_000))
    }

    @Test("Plain associations follow the foreign keys of an imported database")
    func associationsFollowForeignKeys() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let queue = try DatabaseQueue(path: folder.database.path)
        let employments = try await queue.read { db in
            try User.including(optional: User.company).order(Column("id")).asRequest(of: Employment.self).fetchAll(db)
        }
        let counts = try await queue.read { db in
            try User.order(Column("id")).fetchAll(db).map { try $0.request(for: User.notes).fetchCount(db) }
        }
        #expect(
            employments.map(\.company?.name) == [
                "Lovelace & Sons", "Nordlys AS", "Nordlys AS", "Atelier Curie", "Atelier Curie", "Lovelace & Sons", nil,
                "Nordlys AS",
            ])
        #expect(counts == [2, 0, 2, 1, 0, 2, 0, 0])
    }

    @Test("The sqlite3 shell reads an imported database and finds no damage")
    func shellReadsDatabase() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let names = "SELECT firstName || ' ' || lastName FROM User WHERE age > 45 ORDER BY id"
        #expect(try sqlite3(folder.database, names) == "Dalia Haddad\nFarah Amini\n")
        let joined = "SELECT c.name, count(*) FROM User u JOIN Company c ON c.id = u.companyID GROUP BY c.id"
        #expect(try sqlite3(folder.database, joined) == "Lovelace & Sons|2\nNordlys AS|3\nAtelier Curie|2\n")
        #expect(try sqlite3(folder.database, "PRAGMA foreign_key_check") == "")
        #expect(try sqlite3(folder.database, "PRAGMA integrity_check") == "ok\n")
        #expect(try sqlite3(folder.database, "SELECT joinedAt FROM User WHERE id = 1") == "2023-03-01 08:00:00.000\n")
    }

    @Test("Rows that the sqlite3 shell inserts are matched or deleted by the next sync")
    func shellRowsAreMatched() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let insert = "INSERT INTO User (id, firstName, companyID) VALUES (9, 'Ines', 1), (10, 'Stray', 1)"
        #expect(try sqlite3(folder.database, insert) == "")
        let stack = try DataStack(at: folder.database)
        let result = try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: stack)
        #expect(result["User"].inserted == [])
        #expect(result["User"].updated.map(\.key) == [.integer(1), .integer(3), .integer(8), .integer(9)])
        #expect(result["User"].deleted == [.integer(6), .integer(10)])
        #expect(try await stack.damage() == [])
        try stack.close()
    }

    /// Returns the output of the sqlite3 shell.
    private func sqlite3(_ database: URL, _ sql: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlite3", "-bail", database.path, sql]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "'make test' installs the package sqlite3")
        return String(decoding: printed, as: UTF8.self)
    }
}
