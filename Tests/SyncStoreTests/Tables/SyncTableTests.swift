import SyncCore
import Testing

@testable import SyncStore

@Suite("Tables of a sync")
struct SyncTableTests {
    private func withTables(
        _ json: String, of entity: String = "Song", _ body: (SyncTables, CompiledModel) throws -> Void
    ) throws {
        let graph = try SongModel.graph(json, of: entity)
        try SongModel.withTables(graph) { try body($0, graph.model) }
    }

    @Test("The columns are attributes, foreign keys and positions, each found by its index")
    func findsColumnsByIndex() throws {
        try withTables("[]") { tables, model in
            for table in tables {
                let (attributes, keys) = (table.hierarchy.attributes.count, table.hierarchy.foreignKeys.count)
                #expect(table.matches.changed.columnCount == attributes + 2 * keys)
                let columns = (0..<attributes + 2 * keys).map(table.column)
                let expected =
                    (0..<attributes).map { TableColumn.attribute($0) } + (0..<keys).map { .foreignKey($0) }
                    + (0..<keys).map { .position($0) }
                #expect(columns == expected)
                #expect(columns.map(table.index) == Array(columns.indices))
            }
            let song = try tables[model.entity(named: "Song").table]
            let shelf = try #require(song.foreignKey(model.link("Song", "shelf").link.id))
            #expect(song.name(of: .foreignKey(shelf)) == "shelf" && song.name(of: .position(shelf)) == nil)
            #expect(song.name(of: .attribute(try #require(song.hierarchy.keySlot))) == "id")
            #expect(try song.foreignKey(model.link("Song", "tags").link.id) == nil)
        }
    }

    @Test("The node of a stored row is found by its primary key, or by an assigned row key")
    func findsNodeOfStoredRow() throws {
        try withTables(#"[{"id": 1}, {"id": 2, "sleeve": {"colour": "red"}}]"#) { tables, model in
            let songs = try tables[model.entity(named: "Song").table]
            let sleeves = try tables[model.entity(named: "Sleeve").table]
            #expect(songs.node(of: .integer(2)) == NodeID(1) && songs.node(of: .integer(3)) == nil)
            #expect(songs.node(of: .text("2")) == nil)
            #expect(songs.rowKey(NodeID(1)) == .integer(2))
            #expect(sleeves.node(of: .integer(8)) == nil && sleeves.rowKey(NodeID(0)) == nil)
            sleeves.keys.own(NodeID(0), .integer(8))
            songs.keys.own(NodeID(0), .integer(-9))
            #expect(sleeves.node(of: .integer(8)) == NodeID(0) && sleeves.node(of: .text("8")) == nil)
            #expect(try tables.node(of: model.row("Song", .integer(-9))) == NodeID(0))
            #expect(songs.row(NodeID(0)) == StoredRow(table: songs.id, key: .integer(-9)))
        }
    }

    @Test("A node under a surrogate key has no row key until it is matched")
    func unmatchedNodeHasNoSurrogateKey() throws {
        try withTables(#"[{"isbn": "a"}]"#, of: "Book") { tables, model in
            let media = try tables[model.entity(named: "Book").table]
            #expect(media.hasSurrogateKey && media.rowKey(NodeID(0)) == nil)
            media.keys.match(NodeID(0), surrogate: 3)
            #expect(media.rowKey(NodeID(0)) == .integer(3))
        }
    }

    @Test("A node is missing until it is stored or new, and a rejected node has no values")
    func rejectedNodeHasNoValues() throws {
        try withTables(#"[{"id": 1}, {"id": 2}, {"id": 3}]"#) { tables, model in
            let songs = try tables[model.entity(named: "Song").table]
            #expect(songs.nodes(.missing).count == 3 && !songs.isPresent(NodeID(0)))
            songs.matches.rowStates[0] = .stored
            songs.matches.rowStates[1] = .new
            songs.skipNew(NodeID(2))
            #expect(songs.nodes(.stored) == [NodeID(0)] && songs.nodes(.new) == [NodeID(1)])
            #expect(songs.nodes(.missing) == [NodeID(2)] && songs.skippedNodes == [NodeID(2)])
            #expect(!songs.values.exist(for: NodeID(2)) && songs.values.exist(for: NodeID(1)))
            #expect(songs.isPresent(NodeID(1)) && !songs.isPresent(NodeID(1), as: .stored))
        }
    }

    @Test("Matches can be taken from a table once and put back")
    func takesAndRestoresMatches() throws {
        try withTables(#"[{"id": 1}]"#) { tables, model in
            let songs = try tables[model.entity(named: "Song").table]
            songs.matches.changed.insert(0, of: NodeID(0))
            var met = songs.consumeMatches()
            #expect(songs.matches.rowStates.isEmpty && !songs.matches.changed.contains(NodeID(0)))
            met.rowStates[0] = .stored
            songs.matches = met
            #expect(songs.isPresent(NodeID(0), as: .stored) && songs.matches.changed.contains(NodeID(0)))
        }
    }

    @Test("A node whose row belongs to another node is dropped")
    func dropsNodeOfSharedRow() throws {
        try withTables(#"[{"id": 1}, {"id": 2}]"#) { tables, model in
            let songs = try tables[model.entity(named: "Song").table]
            songs.assign(.integer(1), to: NodeID(1))
            #expect(songs.isPresent(NodeID(1), as: .stored) && songs.rowKey(NodeID(1)) == .integer(1))
            songs.removeDuplicate(NodeID(1))
            #expect(!songs.isPresent(NodeID(1)) && !songs.values.exist(for: NodeID(1)))
            #expect(songs.rowKey(NodeID(1)) == .integer(2))
        }
    }

    @Test("Foreign keys to rows that are matched later are resolved")
    func resolvesLaterTargets() throws {
        let json = #"[{"id": 1, "sleeve": {"colour": "red"}}, {"id": 2, "sleeve": {"colour": "blue"}}]"#
        try withTables(json) { tables, model in
            let (link, end) = try model.link("Song", "sleeve")
            let (owners, targets) = (tables[link.first.table], tables[link.second.table])
            let index = try #require(owners.foreignKey(link.id))
            if end == .first {
                owners.matches.foreignKeys[index].surrogateTargets = [41, 40]
                targets.keys.own(NodeID(1), .integer(41))
            } else {
                owners.matches.foreignKeys[index].targetsWithoutNode = [
                    NodeID(0): .integer(41), NodeID(1): .integer(40),
                ]
                targets.keys.own(NodeID(1), .integer(41))
                owners.matches.foreignKeys[index].targets[1] = .unmatched
            }
            tables.resolveTargets()
            #expect(owners.matches.foreignKeys[index].targets == [LinkTarget(NodeID(1)), .unmatched])
        }
    }
}
