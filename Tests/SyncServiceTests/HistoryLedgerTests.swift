import Sync
import Testing

@testable import SyncService

/// The checks of the conflict log of a random history.
@Suite("Ledger of a random history")
struct HistoryLedgerTests {
    private static func task(_ title: String, _ points: String = "") -> [String: HistoryLedger.Line] {
        [
            "Task 1": HistoryLedger.Line(
                entity: "Task", key: "1", name: title, points: points, project: "", text: "")
        ]
    }

    /// Returns the problems if the first device's title wins on the second device over the title of the third.
    private static func found(isOneDomain: Bool, isEdited: Bool) async -> [String] {
        let ledger = HistoryLedger()
        await ledger.note([:], task("n1"), by: 0)
        await ledger.note(task("n1"), task("e2"), by: 2)
        if isEdited { await ledger.note(task("n1"), task("n1", "3"), by: 1) }
        let ruling = HistoryLedger.Ruling(
            domain: "title", local: "n1", remote: "e2", winner: "local", why: "clientWins")
        return await ledger.judge([ruling], of: 1, knowsOwn: false, isTimed: true, isOneDomain: isOneDomain)
    }

    @Test("An unedited column may win only if rows are one field and the device edited the row")
    func unedited() async {
        #expect(await Self.found(isOneDomain: true, isEdited: true) == [])
        #expect(await Self.found(isOneDomain: true, isEdited: false).count == 1)
        #expect(await Self.found(isOneDomain: false, isEdited: true).count == 1)
        #expect(await Self.found(isOneDomain: false, isEdited: false).count == 1)
    }

    @Test("A device may lose to its own value only if rows are one field and another device edited the row")
    func ownValue() async {
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

    @Test("A row counts as deleted if another row replaces it and takes its name")
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

    @Test("A row that a device deletes and inserts again with its key counts as the same row")
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

    @Test("A device that lost a reference without a log entry is found")
    func lostLink() async {
        typealias Logged = HistoryLinks.Logged
        let project = HistoryLedger.Line(entity: "Project", key: "7", name: "p1", points: "", project: "", text: "")
        func lines(_ project: HistoryLedger.Line, _ reference: String) -> [String: HistoryLedger.Line] {
            let task = HistoryLedger.Line(
                entity: "Task", key: "1", name: "n1", points: "", project: reference, text: "")
            return ["Project 7": project, "Task 1": task]
        }
        let ledger = HistoryLedger()
        await ledger.note([:], lines(project, ""), by: 0)
        await ledger.note(lines(project, ""), lines(project, "7"), by: 0)
        let end = lines(project, "")
        #expect(await ledger.judgeLinks(end, logged: [], of: 0).count == 1)
        #expect(await ledger.judgeLinks(end, logged: [], of: 1) == [])
        #expect(await ledger.judgeLinks(end, logged: [Logged(row: "Task 1", field: "title")], of: 0).count == 1)
        #expect(await ledger.judgeLinks(end, logged: [Logged(row: "Task 1", field: "project")], of: 0) == [])
        let gone = end.filter { $0.key != "Project 7" }
        #expect(await ledger.judgeLinks(gone, logged: [], of: 0) == [])
        await ledger.recordLinks([
            "Project": [7: ["name": "p1"]], "Task": [1: ["title": "n1", "project_id": 7]],
        ])
        #expect(await ledger.judgeLinks(end, logged: [], of: 0) == [])
        await ledger.note(lines(project, "7"), lines(project, ""), by: 0)
        #expect(await ledger.judgeLinks(end, logged: [], of: 0) == [])
    }

    @Test("The last one-to-one reference to a row replaces the others")
    func oneToOneReferences() {
        var links = OneToOneLinks()
        var deleted: Set<JSONValue> = []
        /// Returns the corrections of the projects, of which each has a tag and a mate.
        func corrections(_ projects: [JSONValue: (tag: JSONValue, mate: JSONValue)]) -> [String] {
            let records = projects.mapValues { project -> JSONValue in
                ["badge_id": project.tag, "mate_id": project.mate]
            }
            return links.corrections(of: records) { deleted.contains($0) }.map { "\($0.project) \($0.members)" }
        }
        #expect(corrections([1: (7, .null), 2: (8, .null)]).isEmpty)
        #expect(corrections([1: (7, .null), 2: (7, .null)]) == [#"1 {"badge_id":null}"#])
        #expect(corrections([1: (7, .null), 2: (7, .null)]) == [#"2 {"badge_id":null}"#])
        deleted = [7]
        #expect(corrections([1: (7, .null)]) == [#"1 {"badge_id":null}"#])
        #expect(corrections([1: (.null, 2), 2: (.null, .null)]) == [#"2 {"mate_id":1}"#])
        #expect(
            corrections([1: (.null, 2), 2: (.null, 1), 3: (.null, 1)])
                == [#"1 {"mate_id":3}"#, #"2 {"mate_id":null}"#])
        #expect(corrections([1: (.null, 3), 2: (.null, .null)]) == [#"1 {"mate_id":null}"#])
    }
}
