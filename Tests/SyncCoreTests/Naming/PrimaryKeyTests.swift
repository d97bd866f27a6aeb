import SyncCore
import Testing

@Suite("Primary keys")
struct PrimaryKeyTests {
    /// An entity's key by its local and its remote name.
    private func key(_ entities: SyncModel.Entity..., of name: String) throws -> [String]? {
        try SyncModel(entities: entities).primaryKey(of: name).map { [$0.local, $0.remote] }
    }

    @Test("are attributes called id or remoteID, id first")
    func byName() throws {
        #expect(
            try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("remoteID", .integer)]), of: "A") == [
                "remoteID", "id",
            ])
        #expect(
            try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .string)]), of: "A") == ["id", "id"])
        let both = SyncModel.Entity(
            "A", attributes: [SyncModel.Attribute("remoteID", .integer), SyncModel.Attribute("id", .uuid)])
        #expect(try key(both, of: "A") == ["id", "id"])
    }

    @Test("are marked attributes, which beat names")
    func marked() throws {
        let marks = [
            SyncModel.Attribute("id", .string), SyncModel.Attribute("serialNumber", .string, isPrimaryKey: true),
        ]
        #expect(try key(SyncModel.Entity("A", attributes: marks), of: "A") == ["serialNumber", "serial_number"])
        let declared = SyncModel.Entity("A", primaryKey: "takenAt", attributes: [SyncModel.Attribute("takenAt", .date)])
        #expect(try key(declared, of: "A") == ["takenAt", "taken_at"])
    }

    @Test("are called by their remote key")
    func remoteKey() throws {
        let id = SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .string, remoteKey: "_id")])
        #expect(try key(id, of: "A") == ["id", "_id"])
        let marked = SyncModel.Entity(
            "A", attributes: [SyncModel.Attribute("code", .string, remoteKey: "Code", isPrimaryKey: true)])
        #expect(try key(marked, of: "A") == ["code", "Code"])
    }

    @Test("are inherited, or declared below a keyless parent")
    func inheritance() throws {
        let parent = SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .integer)])
        let child = SyncModel.Entity("B", parent: "A", attributes: [SyncModel.Attribute("name", .string)])
        #expect(try key(parent, child, of: "B") == ["id", "id"])
        let keyless = SyncModel.Entity("A", attributes: [SyncModel.Attribute("name", .string)])
        let keyed = SyncModel.Entity(
            "B", parent: "A", attributes: [SyncModel.Attribute("remoteID", .integer, isPrimaryKey: true)])
        #expect(try key(keyless, keyed, of: "A") == nil)
        #expect(try key(keyless, keyed, of: "B") == ["remoteID", "id"])
    }

    @Test("are missing without a candidate that can identify rows")
    func keyless() throws {
        #expect(try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("name", .string)]), of: "A") == nil)
        #expect(try key(SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .boolean)]), of: "A") == nil)
        #expect(try key(SyncModel.Entity("A"), of: "A") == nil)
    }

    @Test("and the first to-one relationship to the entity itself decide the scope of a root-level sync")
    func rootScope() throws {
        let tree = SyncModel.Entity(
            "A", attributes: [SyncModel.Attribute("id", .integer)],
            relationships: [
                SyncModel.Relationship("children", to: "A", many: true, inverse: "parent"),
                SyncModel.Relationship("parent", to: "A", inverse: "children"),
                SyncModel.Relationship("other", to: "A"),
            ])
        #expect(try SyncModel(entities: [tree]).rootScope(of: "A") == "parent")
        #expect(try SyncModel(entities: [SyncModel.Entity("B")]).rootScope(of: "B") == nil)
    }
}
