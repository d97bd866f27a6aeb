import SyncCore
import Testing

@testable import SyncStore

@Suite("Arrived rows of pending references")
struct ArrivedTargetsTests {
    @Test("Arrived rows are looked up by entity, each key once")
    func looksUpEachKeyOnce() throws {
        let (store, model) = (FakeStore(), try SongModel.model().compiled)
        func reference(_ owner: Int64, _ entity: String, _ target: RowKey) throws -> PendingReference {
            PendingReference(
                owner: try model.row("Song", .integer(owner)), ownerEntity: try model.entity(named: "Song").id,
                relationship: "", targetEntity: try model.entity(named: entity).id, target: target)
        }
        store.identities[try model.row("Shelf", .integer(7))] = .init(
            entity: try model.entity(named: "Shelf").id, key: .integer(7))
        store.identities[try model.row("Book", .integer(3))] = .init(
            entity: try model.entity(named: "Book").id, key: .text("isbn"))
        let references = try [
            reference(1, "Shelf", .integer(7)), reference(2, "Shelf", .integer(7)), reference(1, "Book", .text("isbn")),
            reference(1, "Book", .text("other")),
        ]
        let arrived = try ArrivedTargets(references, store, model)
        #expect(try arrived[references[0]] == model.row("Shelf", .integer(7)))
        #expect(try arrived[references[1]] == model.row("Shelf", .integer(7)))
        #expect(try arrived[references[2]] == model.row("Book", .integer(3)) && arrived[references[3]] == nil)
        #expect(Array(arrived.all).count == 3)
        let operations = store.takeOperations()
        #expect(operations.count == 2 && operations.contains("rows with the keys 7"))
    }
}
