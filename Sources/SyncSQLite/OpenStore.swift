import GRDB
import SyncCore

/// A store that was opened, and its tables at that moment.
struct OpenStore {
    private(set) var model: SyncModel
    let database: any DatabaseWriter
    let schemaVersion: Int?
    /// What tells whether the file has changed, if it is read without locks.
    let unlocked: UnlockedStore?
    /// Whether the database is one that an app opened, and closes.
    let isGuest: Bool
    /// Whether its tables are an app's.
    let isAdopted: Bool

    init(
        model: SyncModel, database: any DatabaseWriter, schemaVersion: Int?, unlocked: UnlockedStore? = nil,
        isGuest: Bool = false, isAdopted: Bool = false
    ) {
        self.model = model
        self.database = database
        self.schemaVersion = schemaVersion
        self.unlocked = unlocked
        self.isGuest = isGuest
        self.isAdopted = isAdopted
    }

    /// The store with code for the transformers that its model names; closed if it lacks some that are required.
    func registering(_ code: [AttributeTransformer], _ policy: TransformerPolicy) throws -> OpenStore {
        var store = self
        store.model = model.registering(code)
        do {
            try policy.check(store.model)
        } catch {
            try? database.close()
            throw error
        }
        return store
    }
}
