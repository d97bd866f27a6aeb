import Foundation
import Sync

/// The store `diff` compares with: the database, or a stand-in where opening it would change it.
struct ComparisonStore {
    private let options: StoreOptions

    private let model: (_ kept: Model?) throws -> Model

    /// - Parameter model: The model to compare by, given the one that the database keeps; nil if there is no database.
    init(_ options: StoreOptions, model: @escaping (_ kept: Model?) throws -> Model) {
        self.options = options
        self.model = model
    }

    /// Gives `body` the store. Nothing of it is left on disk that was not there before.
    ///
    /// - Parameter writing: Whether `body` writes, and so must have a copy.
    func use(writing: Bool, _ body: (DataStack) async throws -> Void) async throws {
        guard try options.location.exists else {
            return try await body(.inMemory(model(nil)))
        }
        let kept = try options.location.open()
        let model = try model(kept.model)
        guard writing || model != kept.model else { return try await body(kept) }
        // The database would take over a changed model when it is opened.
        try await body(kept.copy(with: model, migration: options.migration))
    }
}
