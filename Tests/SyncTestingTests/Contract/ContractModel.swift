import Foundation

@testable import SyncTesting

/// The text of a model in a page.
enum ContractModel: Sendable {
    case schema(String)
    /// The `contents` of an `.xcdatamodel`.
    case coreData(String)

    var text: String {
        switch self {
        case .schema(let text), .coreData(let text): text
        }
    }

    /// Returns a folder with the model, and the path of the model in it.
    func folder() throws -> (ScenarioFolder, path: String) {
        switch self {
        case .schema(let text): return (try ScenarioFolder(model: text), "model.json")
        case .coreData(let text):
            let folder = try ScenarioFolder()
            try folder.write(text: text, to: "Model.xcdatamodel/contents")
            return (folder, "Model.xcdatamodel")
        }
    }
}

/// A schema file that is rejected, with its problems.
struct ContractRefusal: Sendable {
    var page: String
    /// The line of the fence with the problems.
    var line: Int
    var schema: String
    /// Each as `path: message`.
    var problems: [String]
}
