/// An element of the XML of a Core Data model, with its place.
struct CoreDataElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [CoreDataElement] = []

    func children(named name: String) -> [CoreDataElement] { children.filter { $0.name == name } }

    /// A flag as Core Data writes it; absent is false.
    func flag(_ name: String) -> Bool { attributes[name] == "YES" }

    /// An attribute's text, if there is any.
    func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The name in an earlier model: the renaming identifier, which Xcode writes as `elementID`.
    var formerName: String? { text("elementID") ?? text("renamingIdentifier") }
}
