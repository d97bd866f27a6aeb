import SyncCore
import Testing

@testable import SyncStore

@Suite("Unresolved links")
struct UnresolvedLinksTests {
    @Test("Unresolved links are grouped by association, in the order in which they were added")
    func groupsByAssociation() throws {
        let graph = try SongModel.graph(#"[{"id": 1, "shelf_id": 7, "tags_ids": [4, 5]}, {"id": 2, "shelf_id": 8}]"#)
        let (shelf, tags, lists) = try (
            graph.model.link("Song", "shelf").link.id, graph.model.link("Song", "tags").link.id,
            graph.model.link("Song", "lists").link.id
        )
        var awaited = UnresolvedLinks()
        #expect(awaited.isEmpty && awaited.count == 0)
        awaited.add(Array(graph[tags].assertions), tags)
        awaited.add([], lists)
        awaited.add(Array(graph[shelf].assertions), shelf)
        #expect(awaited.all.map(\.link) == [tags, shelf] && awaited.count == 4 && !awaited.isEmpty)
        #expect(awaited[shelf].map(\.second) == [NodeID(0), NodeID(1)] && awaited[lists].isEmpty)
        #expect(awaited[tags].map(\.position) == [0, 1])
    }
}
