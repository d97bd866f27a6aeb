public import SyncCore

/// A model as Swift types: what `syncdb schema swift` writes.
///
/// ```swift
/// let source = SwiftSource(model, form: .macros, namespace: "Blog")
/// print(source.text)
/// ```
public struct SwiftSource: Sendable, Hashable {
    /// What the types are written with.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// `@Entity`, so that the model can be made of them again.
        case macros
        /// Nothing but GRDB: `Codable` records that read and write the tables of a store.
        case records
    }

    /// The source.
    public let text: String
    /// What the types do not say of the model.
    public let remarks: [String]

    /// The types of a model.
    ///
    /// - Parameter namespace: The enumeration that they are in; nil for none.
    public init(_ model: SyncModel, form: Form = .macros, namespace: String? = nil) {
        var writer = SwiftWriter(model, form)
        text = writer.source(in: namespace)
        remarks = writer.remarks
    }
}
