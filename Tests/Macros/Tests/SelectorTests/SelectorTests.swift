import Fluent
import Foundation
import SwiftData
import Sync
import Testing

@Sync::Entity struct Shelf {
    @Sync::PrimaryKey var code: String
    @Sync::Relationship(inverse: \Volume.shelf) var volumes: [Volume]
}

@Sync::Entity struct Volume {
    var id: Int
    @Sync::Relationship var shelf: Shelf?
}

@Suite("Names that other modules have too")
struct SelectorTests {
    @Test("Macros with a module selector make entities")
    func entities() async throws {
        let stack = try DataStack.inMemory(SyncModel(Shelf.self, Volume.self))
        let json = Data(#"[{"code": "a", "volumes": [{"id": 1}, {"id": 2}]}]"#.utf8)
        let result = try await Sync.changes(json, as: Shelf.self, stack: stack)
        #expect(result[Shelf.self].inserted == ["a"])
        #expect(result[Volume.self].inserted == [1, 2])
    }
}
