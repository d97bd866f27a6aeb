import Foundation
import SyncCore
import Testing

@Suite("Error descriptions")
struct ErrorDescriptionTests {
    @Test("The localizedDescription of a SyncError equals its description")
    func localizedDescriptionEqualsDescription() {
        let error = SyncError(
            .malformedJSON, "a value is expected", entity: "User", path: "[0].age", line: 1, column: 7,
            problems: [.init(.invalidModel, path: "a", message: "wrong")], underlying: "the layer below")
        let erased: any Error = error
        #expect(erased.localizedDescription == error.description)
        #expect(
            erased.localizedDescription
                == "a value is expected (entity User, at [0].age, line 1, column 7): the layer below\n  a: wrong")
        #expect((erased as NSError).localizedDescription == error.description)
    }

    static let time = Date(timeIntervalSince1970: 86_400)

    @Test("Diagnostics, parts of results, the sync status, blocked changes and conflicts print one line")
    func partsPrintOneLine() {
        let texts: [(Any, String)] = [
            (
                SyncDiagnostic(.typeMismatch, entity: "User", key: "2", path: "[1].age", message: "it does not fit"),
                "typeMismatch (User 2, at [1].age): it does not fit"
            ),
            (
                SyncDiagnostic.unmapped("full_name", of: "User", count: 3),
                "unmappedKey (User, at full_name): User has no attribute or relationship for the key 'full_name' "
                    + "(3 times)"
            ),
            (
                SyncDiagnostic(.invalidModel, message: "wrong", suggestion: "correct it", fixSQL: "DROP TABLE a"),
                "invalidModel: wrong; correct it"
            ),
            (
                SyncResult.Link(entity: "User", key: .integer(2), relationship: "company", target: .text("a")),
                "User 2: company → a"
            ),
            (SyncResult.Update(key: .integer(2), changedAttributes: ["age", "company"]), "2: age, company"),
            (
                SyncResult.Update(
                    key: .integer(2), changedAttributes: ["age"],
                    values: ["age": SyncResult.ValueChange(old: 20, new: "x")]), "2: age 20 → \"x\""
            ),
            (SyncResult.Row(key: .integer(9), values: ["name": "Bo", "age": 20]), "9: age 20, name \"Bo\""),
            (
                EntityStatus(
                    entity: "Task", pendingChanges: 3, blockedChanges: 1, openConflicts: 2, conflictingValues: 4,
                    lastSyncDate: Self.time, isInitialSyncComplete: true),
                "Task: 3 pending changes, 1 blocked change, 2 rows with open conflicts; last sync 1970-01-02T00:00:00Z"
            ),
            (
                EntityStatus(
                    entity: "Task", pendingChanges: 0, blockedChanges: 0, openConflicts: 0, conflictingValues: 0,
                    lastSyncDate: nil, isInitialSyncComplete: false), "Task: nothing pending; never synced"
            ),
            (BlockedChange(entity: "Task", key: .text("a"), reason: "too long"), "Task a is blocked: too long"),
            (
                SyncConflict(entity: "Task", key: .integer(4), field: "points", base: 1, local: 2, remote: 3),
                "Task 4, points: base 1, local 2, remote 3"
            ),
            (
                SyncConflict(
                    entity: "Task", key: .integer(4), field: "", base: .null, local: .null, remote: ["id": 4],
                    outcome: SyncConflict.Outcome(
                        winner: .remote, reason: .deleteWins, isRestored: true, date: Self.time)),
                "Task 4: remote {\"id\":4}; remote wins (deleteWins), restored"
            ),
        ]
        for (value, text) in texts { #expect("\(value)" == text) }
    }

    @Test("Every error type in Sources is a LocalizedError")
    func everyErrorIsLocalized() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let declaration = try Regex(#"(struct|enum|class|actor|extension) [\w.]+\s*:[^{]*\bError\b"#)
        var found: [String] = []
        var errors = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            errors += text.components(separatedBy: "LocalizedError").count - 1
            found += text.matches(of: declaration).map { "\(file.lastPathComponent): \(text[$0.range])" }
        }
        #expect(found.isEmpty, "make it a LocalizedError")
        #expect(errors > 5)
    }

    @Test("TruncatedList shows the first elements and the number of the others")
    func truncatedListCountsTheRest() {
        #expect(TruncatedList(["a", "b"]).text == "a, b")
        #expect(TruncatedList(["a", "b", "c"], upTo: 1).text == "a and 2 more")
        #expect(TruncatedList(["a", "b", "c"], upTo: nil).text == "a, b, c")
        #expect(TruncatedList(["a"], of: 7).text == "a and 6 more")
        #expect(TruncatedList((1...1000).lazy.map(String.init)).text.hasSuffix("20 and 980 more"))
    }
}
