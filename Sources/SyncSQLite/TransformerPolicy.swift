import SyncCore

/// Whether a store may be opened without the transformers that its model names.
public enum TransformerPolicy: Sendable, Hashable {
    /// Each must be registered on the model, or be built in: what an app wants, which would else store values that are not
    /// meant.
    case required
    /// The values of an attribute are read and exported without those that are missing, which
    /// ``SyncModel/missingTransformers`` names: for tools that cannot have the code, and say so.
    case optional

    /// - Throws: ``SyncError`` `missingTransformer`.
    func check(_ model: SyncModel) throws {
        if self == .required { try model.requireTransformers() }
    }
}
