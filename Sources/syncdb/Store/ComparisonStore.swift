import Foundation
import Sync

/// The store `diff` compares with: the database, or a stand-in where opening it would change it.
struct ComparisonStore {
    private let options: StoreOptions

    private let model: (_ kept: SyncModel?) throws -> ChosenModel

    /// - Parameter model: The model to compare by, given the one that the database keeps; nil if there is no database.
    init(_ options: StoreOptions, model: @escaping (_ kept: SyncModel?) throws -> ChosenModel) {
        self.options = options
        self.model = model
    }

    /// Gives `body` the store, and the model it was chosen for. Nothing of it is left on disk that was not there before.
    ///
    /// - Parameter writing: Whether `body` writes, and so must have a copy.
    func use<Result>(
        writing: Bool, _ body: (DataStack, ChosenModel) async throws -> Result
    ) async throws -> Result {
        guard try options.location.exists else {
            let chosen = try model(nil)
            return try await body(.inMemory(chosen.model, transformers: .optional), chosen)
        }
        let kept = try options.location.open()
        let chosen = try model(kept.model)
        guard writing || chosen.model != kept.model else { return try await body(kept, chosen) }
        // The database would take over a changed model when it is opened.
        return try await body(kept.copy(with: chosen.model, migration: options.changes.migration), chosen)
    }
}
