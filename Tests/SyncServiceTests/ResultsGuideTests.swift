import Foundation
import GRDB
import Sync
import Testing

/// Returns a line for each change and each problem of a sync.
func lines(of result: SyncResult) -> [String] {
    var lines: [String] = []
    for (entity, changes) in result.entities.sorted(by: { $0.key < $1.key }) {
        lines += changes.inserted.map { "+ \(entity) \($0)" }
        for update in changes.updated {
            for (name, value) in update.values ?? [:] {
                lines.append("~ \(entity) \(update.key) \(name): \(value.old) → \(value.new)")
            }
        }
        lines += changes.deleted.map { "- \(entity) \($0)" }
    }
    lines += (result.addedLinks ?? []).map { "\($0.entity) \($0.key) \($0.relationship) → \($0.target)" }
    lines += result.pendingReferences.map { "\($0.entity) \($0.key) \($0.relationship) waits for \($0.target)" }
    lines += (result.diagnostics + result.unmappedKeys).map { "\($0.kind) \($0.path): \($0.message)" }
    return lines
}

/// Syncs users, and returns the lines to log.
func syncUsers(_ json: Data, _ stack: DataStack) async throws -> [String] {
    let options = SyncOptions(resultDetail: .values)
    do {
        return lines(of: try await Sync.changes(json, inEntity: "User", stack: stack, options: options))
    } catch let error as SyncError where !error.isTransient {
        var lines = ["\(error.code) at \(error.path ?? "no path"): \(error.message)"]
        if let suggestion = error.recoverySuggestion { lines.append(suggestion) }
        if let cause = error.underlyingError as? DatabaseError { lines.append("SQLite \(cause.extendedResultCode)") }
        return lines
    }
}

/// Returns what a sync would change, even above the deletion limit. Writes nothing.
func planUsers(_ json: Data, _ stack: DataStack) async throws -> [String] {
    let options = SyncOptions(deletionLimit: nil, resultDetail: .values)
    return lines(of: try await Sync.plan(json, inEntity: "User", stack: stack, options: options))
}

/// The code and the tables of `Docs/ResultsAndErrors.md`.
@Suite("Guide to results and errors")
struct ResultsGuideTests {
    private static let schema = """
        {"entities": {
          "User": {"attributes": {"id": "integer", "firstName": "string", "age": "integer"},
            "relationships": {"company": {"entity": "Company", "inverse": "users"}}},
          "Company": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"users": {"entity": "User", "many": true, "inverse": "company"}}}}}
        """
    private let stack: DataStack
    private let page: GuidePage

    init() throws {
        stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        page = try GuidePage("ResultsAndErrors.md")
    }

    private func insert(_ count: Int) async throws {
        let records = (1...count).map { #"{"id": \#($0)}"# }.joined(separator: ",")
        try await Sync.changes(Data("[\(records)]".utf8), inEntity: "User", stack: stack)
    }

    @Test("The page shows code of this file, and its result")
    func result() async throws {
        let day1 = Data(#"[{"id": 1, "first_name": "Ada", "company": {"id": 7}}, {"id": 2}]"#.utf8)
        let day2 = Data(
            #"[{"id": 1, "first_name": "Ada L.", "company_id": 8}, {"id": 3, "age": "old", "nick": "Al"}]"#.utf8)
        try await Sync.changes(day1, inEntity: "User", stack: stack)
        let plan = try await planUsers(day2, stack)
        let result = try await syncUsers(day2, stack)
        #expect(plan == result)
        #expect(page.text.contains("```text\n\(result.joined(separator: "\n"))\n```"), "\(result)")
        #expect(!page.fences.isEmpty)
        for fence in page.fences { #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.text)") }
    }

    @Test("An error has a code, a path, a message and a suggestion")
    func error() async throws {
        let lines = try await syncUsers(Data(#"[{"id": 1}, {"id": 2, "#.utf8), stack)
        #expect(lines.first?.hasPrefix("malformedJSON at no path: ") == true, "\(lines)")
        #expect(lines.last == "Fetch the payload again: it may be truncated.")
        try await stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX firstNames ON User(firstName)") }
        try await Sync.insertOrUpdate(["id": 1, "first_name": "Ada"], inEntity: "User", stack: stack)
        let error = try await #require(throws: SyncError.self) {
            try await Sync.insertOrUpdate(["id": 2, "first_name": "Ada"], inEntity: "User", stack: stack)
        }
        #expect(error.code == .databaseError)
        #expect((error.underlyingError as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        let payload = Data(#"[{"id": 1, "first_name": "Ada"}, {"id": 2, "first_name": "Ada"}]"#.utf8)
        let violation = try await #require(throws: SyncError.self) {
            try await Sync.changes(payload, inEntity: "User", stack: stack)
        }
        #expect(violation.code == .databaseError)
        #expect((violation.underlyingError as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
    }

    @Test("The page lists each code once, and transient errors are to be retried later")
    func codes() throws {
        let rows = page.text.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }
        for code in SyncError.Code.allCases {
            let listed = rows.filter { ($0.components(separatedBy: "|").dropFirst().first ?? "").contains("`\(code)`") }
            #expect(listed.count == 1, "\(code)")
        }
        var error = try #require(throws: SyncError.self) { try SyncModel(schemaData: Data()) }
        for row in rows {
            let columns = row.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            for code in SyncError.Code.allCases where columns[1].contains("`\(code)`") {
                error.code = code
                #expect(error.isTransient == (columns[3] == "retry later"), "\(code)")
            }
        }
    }

    @Test("The deletion limit is half of more than 10 rows, a number, another fraction, or off")
    func limits() async throws {
        func deleted(_ limit: DeletionLimit?) async throws -> Int {
            let options = SyncOptions(deletionLimit: limit)
            let json = Data(#"[{"id": 1}]"#.utf8)
            return try await Sync.plan(json, inEntity: "User", stack: stack, options: options)["User"].deletedCount
        }
        try await insert(10)
        #expect(try await deleted(.half) == 9)
        await #expect(throws: SyncError.self) { try await deleted(.fraction(0.5)) }
        try await insert(20)
        await #expect(throws: SyncError.self) { try await deleted(.half) }
        await #expect(throws: SyncError.self) { try await deleted(.rows(18)) }
        #expect(try await deleted(.rows(19)) == 19)
        #expect(try await deleted(nil) == 19)
        await #expect(throws: SyncError.self) { try await deleted(.rows(-1)) }
        await #expect(throws: SyncError.self) { try await deleted(.fraction(1.5)) }
    }

    @Test("The limit of the first page applies, and the pages stay")
    func pages() async throws {
        try await insert(20)
        let pages = PagedImport()
        for (page, limit) in [(#"[{"id": 1}]"#, DeletionLimit.rows(5)), (#"[{"id": 21}]"#, .rows(100))] {
            let options = SyncOptions(payloadKind: .page(of: pages), deletionLimit: limit)
            try await Sync.changes(Data(page.utf8), inEntity: "User", stack: stack, options: options)
        }
        let error = try await #require(throws: SyncError.self) { try await pages.finish() }
        #expect(error.code == .deletionLimitExceeded)
        #expect(try await stack.count("User") == 21)
        await #expect(throws: SyncError.self) { try await pages.finish() }
    }
}
