import Foundation
public import SyncCore

/// A model with each type of attribute and each kind of relationship.
public enum FuzzModel {
    /// The model of `Model.json`, with its transformer.
    public static let model: SyncModel = {
        let file = URL(filePath: #filePath).appending(path: "../../../Model.json").standardizedFileURL
        do {
            return try SyncModel(contentsOf: file).registering(
                AttributeTransformer("Reversed") { json in
                    guard case .string(let text) = json else { return nil }
                    return .string(String(text.reversed()))
                })
        } catch {
            fail("\(error)")
        }
    }()
}
