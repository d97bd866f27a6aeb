import Foundation
public import SyncCore

/// A model with every type of attribute and every kind of relationship, for the payloads that the fuzzer makes.
public enum FuzzModel {
    /// The model of `SyncModel.json`, with its transformer.
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
