import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// References to rows whose composite key changes locally. The surrogate key in the references stays the same.
@Suite("References to rows whose composite key changes")
struct RekeyedReferenceTests {
    private static let schema = """
        {"entities": {
          "Issue": {"primaryKey": ["repo", "number"],
            "attributes": {"repo": "integer", "number": "integer", "title": "string"},
            "relationships": {
              "comments": {"entity": "Comment", "many": true, "inverse": "issue", "deleteRule": "cascade"},
              "boards": {"entity": "Board", "many": true, "inverse": "issues", "export": false}}},
          "Comment": {"attributes": {"id": "integer", "text": "string"},
            "relationships": {"issue": {"entity": "Issue", "inverse": "comments"}}},
          "Board": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"issues": {"entity": "Issue", "many": true, "inverse": "boards"}}}
        }}
        """

    private let service = InMemoryService()

    /// Returns two devices with the issues 7 and 8, each with one comment and on one board.
    private func devices(_ policy: ConflictPolicy = .serverWins) async throws -> (one: Device, two: Device) {
        for (id, number) in [(1, 7), (2, 8)] as [(JSONValue, JSONValue)] {
            await service.set("Issue", [1, number], ["repo": 1, "number": number, "title": .string("i\(number)")])
            await service.set("Comment", id, ["text": .string("c\(number)"), "issue_id": [1, number]])
            await service.set("Board", id, ["name": .string("b\(number)"), "issue_ids": [[1, number]]])
        }
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        configuration.deletionLimit = nil
        let entities = ["Issue", "Comment", "Board"].map { SyncedEntity($0, conflictPolicy: policy) }
        let made = try (0..<2).map { _ in try Device(service, schema: Self.schema, entities: entities, configuration) }
        for device in made { try await device.engine.sync() }
        return (made[0], made[1])
    }

    /// Lets the service delete the comments of an issue before it deletes the issue.
    private func cascadeDeletions() async {
        await service.onRequest { [service] request in
            guard case .push(let operations) = request else { return }
            for operation in operations where operation.kind == .delete && operation.entity == "Issue" {
                for (id, row) in await service.contents(of: "Comment") where row["issue_id"] == operation.id {
                    await service.remove("Comment", id)
                }
            }
        }
    }

    private func sentChanges() async -> [String] {
        await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.map { "\($0.kind) \($0.entity)" }
        }
    }

    /// The titles of the issues of each comment and board, with the numbers of the issues.
    private static let links = """
        SELECT text, title, number FROM Comment LEFT JOIN Issue ON sync_id = issueID
        UNION ALL SELECT name, title, number FROM Board b JOIN Board_issues x ON x.boardID = b.id
          JOIN Issue ON sync_id = x.issueID
        ORDER BY 1, 2, 3
        """

    private func expectSame(_ devices: [Device], _ links: [String]) async throws {
        for device in devices {
            #expect(try await device.rows(Self.links) == links)
            #expect(try await device.leftovers() == [])
            #expect(try await device.rows("PRAGMA foreign_key_check") == [])
            #expect(try await device.engine.sync().isEmpty)
        }
        let issues = await service.contents(of: "Issue")
        var there: [String] = []
        for row in await service.contents(of: "Comment").values {
            let issue = row["issue_id"].flatMap { issues[$0] }
            there.append("\(Self.text(row["text"])) \(Self.text(issue?["title"])) \(Self.text(issue?["number"]))")
        }
        for row in await service.contents(of: "Board").values {
            guard case .array(let ids)? = row["issue_ids"] else { continue }
            for issue in ids.compactMap({ issues[$0] }) {
                there.append("\(Self.text(row["name"])) \(Self.text(issue["title"])) \(Self.text(issue["number"]))")
            }
        }
        #expect(there.sorted() == links)
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?, .number(let text)?: text
        default: "nil"
        }
    }

    @Test(
        "Rows that reference a row with a new composite key are sent after its create and before its deletion",
        arguments: [false, true])
    func renamed(_ cascades: Bool) async throws {
        let (one, two) = try await devices()
        if cascades { await cascadeDeletions() }
        await service.deleteRequests()
        try await one.write("UPDATE Issue SET number = 9 WHERE number = 7")
        try await one.engine.sync()
        let sent = await sentChanges()
        #expect(sent.first == "create Issue")
        #expect(Set(sent.dropFirst().dropLast()) == ["update Comment", "update Board"])
        #expect(sent.last == "delete Issue")
        #expect(sent.count == 4)
        for device in [two, one] { try await device.engine.sync() }
        try await expectSame([one, two], ["b7 i7 9", "b8 i8 8", "c7 i7 9", "c8 i8 8"])
        for device in [one, two] { #expect(try await device.engine.conflicts().isEmpty) }
    }

    @Test("Rows whose composite keys are exchanged keep the rows that reference them", arguments: [false, true])
    func exchanged(_ cascades: Bool) async throws {
        let (one, two) = try await devices()
        if cascades { await cascadeDeletions() }
        try await one.write(
            """
            UPDATE Issue SET number = 99 WHERE title = 'i7';
            UPDATE Issue SET number = 7 WHERE title = 'i8';
            UPDATE Issue SET number = 8 WHERE title = 'i7';
            """)
        for device in [one, two, one] { try await device.engine.sync() }
        #expect(await service.creations == 0)
        try await expectSame([one, two], ["b7 i7 8", "b8 i8 7", "c7 i7 8", "c8 i8 7"])
        for device in [one, two] { #expect(try await device.engine.conflicts().isEmpty) }
    }

    @Test("A composite key that changes and changes back sends nothing")
    func changedBack() async throws {
        let (one, two) = try await devices()
        await service.deleteRequests()
        for number in [9, 10, 7] { try await one.write("UPDATE Issue SET number = \(number) WHERE title = 'i7'") }
        #expect(try await one.engine.sync().isEmpty)
        #expect(await sentChanges().isEmpty)
        try await expectSame([one, two], ["b7 i7 7", "b8 i8 8", "c7 i7 7", "c8 i8 8"])
    }

    @Test("A composite key that takes over the key of another row keeps only its own references")
    func takenOver() async throws {
        let (one, two) = try await devices()
        try await one.write("UPDATE OR REPLACE Issue SET number = 8 WHERE number = 7")
        for device in [one, two, one] { try await device.engine.sync() }
        try await expectSame([one, two], ["b7 i7 8", "c7 i7 8"])
    }

    @Test("References are merged if a pull has the former reference before the new one is sent")
    func pulledBefore() async throws {
        let (one, two) = try await devices()
        try await one.write("UPDATE Issue SET number = 9 WHERE number = 7")
        await service.set("Comment", 1, ["text": "theirs"])
        await service.set("Board", 1, ["name": "their"])
        for device in [one, two, one] { try await device.engine.sync() }
        try await expectSame([one, two], ["b8 i8 8", "c8 i8 8", "their i7 9", "theirs i7 9"])
        #expect(try await one.engine.conflicts().isEmpty)
        #expect(await service.contents(of: "Board")[1]?["issue_ids"] == [[1, 9]])
    }

    @Test(
        "A pull with another reference is a conflict with the former reference as the base",
        arguments: [.clientWins, .serverWins] as [ConflictPolicy])
    func conflicting(_ policy: ConflictPolicy) async throws {
        let (one, two) = try await devices(policy)
        try await one.write("UPDATE Issue SET number = 9 WHERE number = 7")
        await service.set("Comment", 1, ["issue_id": [1, 8]])
        for device in [one, two, one] { try await device.engine.sync() }
        let issue = policy == .clientWins ? "i7 9" : "i8 8"
        try await expectSame([one, two], ["b7 i7 9", "b8 i8 8", "c7 \(issue)", "c8 i8 8"])
        let conflicts = try await one.engine.conflicts()
        #expect(conflicts.map(\.field) == ["issue"])
        #expect(conflicts.map(\.base) == [[1, 7]])
        #expect(conflicts.map(\.remote) == [[1, 8]])
    }

    @Test("References that are sent while the composite key changes are sent again")
    func changedInFlight() async throws {
        let (one, two) = try await devices()
        try await one.write(
            """
            UPDATE Comment SET issueID = (SELECT sync_id FROM Issue WHERE number = 8);
            INSERT INTO Board_issues (boardID, issueID) SELECT 1, sync_id FROM Issue WHERE number = 8;
            """)
        await service.onRequest { request in
            guard case .push = request else { return }
            try? await one.write("UPDATE Issue SET number = 9 WHERE number = 8")
        }
        for device in [one, one, two, one] { try await device.engine.sync() }
        try await expectSame([one, two], ["b7 i7 7", "b7 i8 9", "b8 i8 9", "c7 i8 9", "c8 i8 9"])
    }

    @Test("References to an unsent row whose composite key changes are sent once")
    func unsent() async throws {
        let (one, two) = try await devices()
        try await one.write("INSERT INTO Issue (repo, number, title) VALUES (1, 20, 'new')")
        try await one.write(
            """
            UPDATE Comment SET issueID = (SELECT sync_id FROM Issue WHERE title = 'new') WHERE id = 1;
            INSERT INTO Board_issues (boardID, issueID) SELECT 1, sync_id FROM Issue WHERE title = 'new';
            INSERT INTO Comment (text, issueID) SELECT 'also', sync_id FROM Issue WHERE title = 'new';
            """)
        try await one.write("UPDATE Issue SET number = 21 WHERE title = 'new'")
        for device in [one, two, one] { try await device.engine.sync() }
        #expect(await service.creations == 2)
        try await expectSame([one, two], ["also new 21", "b7 i7 7", "b7 new 21", "b8 i8 8", "c7 new 21", "c8 i8 8"])
    }

    @Test("Base values and join edits of a deleted row are not those of a row that gets its surrogate key")
    func reusedSurrogateKey() async throws {
        let (one, two) = try await devices()
        try await one.write(
            """
            UPDATE Comment SET issueID = NULL WHERE id = 2;
            DELETE FROM Issue WHERE number = 8;
            INSERT INTO Issue (repo, number, title) VALUES (1, 30, 'new');
            """)
        #expect(try await one.rows("SELECT value FROM sync_base WHERE field = 'issueID'") == ["[1,8]"])
        await service.set("Comment", 2, ["text": "theirs"])
        for device in [one, two, one] { try await device.engine.sync() }
        try await expectSame([one, two], ["b7 i7 7", "c7 i7 7", "theirs nil nil"])
        #expect(try await one.engine.conflicts().isEmpty)
    }

    @Test("The value of a surrogate key is not sent when it changes")
    func renumbered() async throws {
        let (one, _) = try await devices()
        await service.deleteRequests()
        try await one.write("UPDATE Issue SET sync_id = 50 WHERE number = 7")
        #expect(try await one.engine.sync().isEmpty)
        #expect(await sentChanges().isEmpty)
    }
}
