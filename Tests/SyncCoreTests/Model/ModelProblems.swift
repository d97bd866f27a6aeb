import SyncCore
import Testing

/// Problems of invalid models.
enum ModelProblems {
    /// Returns the paths of the problems of a model with these entities.
    static func paths(_ entities: [SyncModel.Entity]) throws -> [String] {
        let error = try #require(throws: SyncError.self) { try SyncModel(entities: entities) }
        #expect(error.code == .invalidModel)
        return error.problems.map(\.path)
    }
}
