import SyncCore
import Testing

@testable import SyncStore

@Suite("Sync results")
struct ResultTests {
    @Test("Deleted root rows are counted separately, and deleted keys are sorted")
    func countsDeletedRoots() throws {
        let graph = try SongModel.graph("[]")
        var report = ResultBuilder(graph, collectsKeys: true)
        let song = try graph.model.entity(named: "Song").id
        for (key, isRoot) in [(2, true), (1, false)] as [(Int64, Bool)] {
            report.deleted(.init(entity: song, key: .integer(key)), isRoot: isRoot)
        }
        let result = report.makeResult(pendingReferences: [])
        #expect(result.root.deleted == 1 && result["Song"].deleted == [.integer(1), .integer(2)])
    }

    @Test("A result has link counts, unresolved references and the diagnostics of the payload")
    func hasLinksAndDiagnostics() throws {
        let graph = try SongModel.graph(#"[{"id": 1, "colour": "red"}, {"name": "no key"}]"#)
        var report = ResultBuilder(graph, collectsKeys: true)
        report.countLinks(added: 2)
        report.countLinks(removed: 3)
        report.countLinks(added: 1, removed: 1)
        let awaited = SyncResult.Link(
            entity: "Song", key: .integer(1), relationship: "shelf", target: .integer(7))
        let result = report.makeResult(pendingReferences: [awaited])
        #expect(result.linksAdded == 3 && result.linksRemoved == 4 && result.pendingReferences == [awaited])
        #expect(result.diagnostics.count == 1 && result.unmappedKeys.map(\.path) == ["colour"])
        #expect(result.entities.isEmpty)
    }

    @Test("A result has at most 10,000 diagnostics, those of the payload first")
    func limitsDiagnostics() throws {
        let graph = try SongModel.graph(#"[{"id": 1}, {"name": "no key"}]"#)
        var report = ResultBuilder(graph, collectsKeys: true)
        let song = try graph.model.entity(named: "Song").id
        for number in 0..<10_001 {
            report.add(.entityMismatch, song, key: .integer(Int64(number)), path: "[\(number)]", "another")
        }
        let found = report.makeResult(pendingReferences: []).diagnostics
        #expect(found.count == 10_000 && found.first?.kind == .missingPrimaryKey)
        #expect(
            found[1]
                == SyncDiagnostic(.entityMismatch, entity: "Song", key: "0", path: "[0]", message: "another"))
        #expect(found.last?.path == "[9998]")
    }
}
