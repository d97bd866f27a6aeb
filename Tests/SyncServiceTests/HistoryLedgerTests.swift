import Sync
import Testing

@testable import SyncService

/// How the log of conflicts of a random history is judged.
@Suite("The ledger of a random history")
struct HistoryLedgerTests {
    private static func task(_ title: String, _ points: String = "") -> [String: HistoryLedger.Line] {
        [
            "Task 1": HistoryLedger.Line(
                entity: "Task", key: "1", name: title, points: points, project: "", text: "")
        ]
    }

    /// What is found where the title that the first device made wins on the second device, over that of the third one.
    private static func found(isOneDomain: Bool, isEdited: Bool) async -> [String] {
        let ledger = HistoryLedger()
        await ledger.note([:], task("n1"), by: 0)
        await ledger.note(task("n1"), task("e2"), by: 2)
        if isEdited { await ledger.note(task("n1"), task("n1", "3"), by: 1) }
        let ruling = HistoryLedger.Ruling(
            domain: "title", local: "n1", remote: "e2", winner: "local", why: "clientWins")
        return await ledger.judge([ruling], of: 1, knowsOwn: false, isTimed: true, isOneDomain: isOneDomain)
    }

    @Test("A value wins that was not set on the device only where rows are one domain and the row was edited there")
    func unedited() async {
        #expect(await Self.found(isOneDomain: true, isEdited: true) == [])
        #expect(await Self.found(isOneDomain: true, isEdited: false).count == 1)
        #expect(await Self.found(isOneDomain: false, isEdited: true).count == 1)
        #expect(await Self.found(isOneDomain: false, isEdited: false).count == 1)
    }

    @Test("A device loses to its own value only where rows are one domain and another device edited the row")
    func own() async {
        for (isOneDomain, isEdited) in [(true, true), (true, false), (false, true), (false, false)] {
            let ledger = HistoryLedger()
            await ledger.note([:], Self.task("n1"), by: 0)
            await ledger.note(Self.task("n1"), Self.task("e2"), by: 0)
            if isEdited { await ledger.note(Self.task("n1"), Self.task("n1", "3"), by: 1) }
            let ruling = HistoryLedger.Ruling(
                domain: "title", local: "e2", remote: "n1", winner: "remote", why: "serverWins")
            let found = await ledger.judge(
                [ruling], of: 0, knowsOwn: true, isTimed: true, isOneDomain: isOneDomain)
            #expect(found.isEmpty == (isOneDomain && isEdited))
        }
    }

    @Test("A row is deleted that another row replaces and takes its name from")
    func replaced() async {
        let ledger = HistoryLedger()
        func line(_ key: String, _ title: String) -> HistoryLedger.Line {
            HistoryLedger.Line(entity: "Task", key: key, name: title, points: "", project: "", text: "")
        }
        await ledger.note([:], ["Task 1": line("1", "n1"), "Task 2": line("2", "n2")], by: 0)
        await ledger.note(["Task 1": line("1", "n1")], ["Task 1": line("1", "e3")], by: 1)
        await ledger.note(
            ["Task 1": line("1", "n1"), "Task 2": line("2", "n2")], ["Task 2": line("2", "n1")], by: 0)
        for title in ["e3", "n1"] {
            await ledger.judge(
                deletionOf: ["id": 1, "title": .string(title)], "Task", isAlong: false, isSure: true)
        }
        #expect(await ledger.problems == [])
        await ledger.judge(deletionOf: ["id": 2, "title": "n2"], "Task", isAlong: false, isSure: true)
        #expect(await ledger.problems.count == 1)
    }

    @Test("A row that a device deletes and inserts again with its key is the same row")
    func insertedAgain() async {
        let ledger = HistoryLedger()
        await ledger.note([:], Self.task("n1"), by: 0)
        await ledger.note(Self.task("n1"), [:], by: 0)
        await ledger.note([:], Self.task("e2"), by: 0)
        await ledger.judge(deletionOf: ["id": 1, "title": "e2"], "Task", isAlong: false, isSure: true)
        #expect(await ledger.problems == [])
        await ledger.note([:], Self.task("e3"), by: 1)
        await ledger.judge(deletionOf: ["id": 1, "title": "e3"], "Task", isAlong: false, isSure: true)
        #expect(await ledger.problems.count == 1)
    }
}
