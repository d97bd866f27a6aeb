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
        guard options.location.exists else {
            return try await body(.inMemory(model(nil)))
        }
        let kept = try options.location.open()
        let model = try model(kept.model)
        guard writing || model != kept.model else { return try await body(kept) }
        try await useCopy(of: kept, with: model, body)
    }

    /// The database would take over a changed model when it is opened, so a copy is opened instead.
    private func useCopy(
        of kept: DataStack, with model: Model, _ body: (DataStack) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("syncdb-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent("copy.sqlite")
        let source = options.location.url.path
        // An open read keeps the write-ahead log from starting over while both files are copied.
        try await kept.read { _ in
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + suffix) {
                try FileManager.default.copyItem(atPath: source + suffix, toPath: copy.path + suffix)
            }
        }
        try await body(DataStack(model: model, at: copy, migration: options.migration))
    }
}
