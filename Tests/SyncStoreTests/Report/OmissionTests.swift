import SyncCore
import Testing

@testable import SyncStore

@Suite("Omissions in results")
struct OmissionTests {
    @Test("Diagnostics beyond the limit are counted")
    func countsOmittedDiagnostics() throws {
        let graph = try SongModel.graph(#"[{"id": 1}]"#)
        var report = ResultBuilder(graph, collectsKeys: true)
        let song = try graph.model.entity(named: "Song").id
        for _ in 0..<10_003 { report.add(.entityMismatch, song, key: nil, path: "", "") }
        #expect(report.makeResult(pendingReferences: []).omittedDiagnosticCount == 3)
    }

    @Test("Previous values of a row given twice are read once")
    func readsRepeatedRowOnce() throws {
        let (store, model) = (FakeStore(), try SongModel.model().compiled)
        let row = try model.row("Song", .integer(1))
        try PreviousValues(store, model, RowIdentityCache(store, model)).capture([row, row])
        #expect(store.takeOperations() == ["identities of 1", "values of 1"])
    }
}
