import SyncCore
import Testing

/// What is wrong with a model.
enum ModelProblems {
    /// The paths of the problems of a model with these entities.
    static func paths(_ entities: [SyncModel.Entity]) throws -> [String] {
        let error = try #require(throws: SyncError.self) { try SyncModel(entities: entities) }
        #expect(error.code == .invalidModel)
        return error.problems.map(\.path)
    }
}
