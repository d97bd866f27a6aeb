import SyncCore
import SyncStore

extension StoreLayout {
    /// The names of the entities whose rows are in tables, as SQL literals: `'Book', 'Film'`.
    func entityNames(of tables: [TableID]) -> String {
        tables.flatMap { model[$0].entities }.map { model.entities[$0].name.literal }.joined(separator: ", ")
    }
}
