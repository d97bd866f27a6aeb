/// What a payload that cannot be read as it was asked for seems to be, with the option that reads it.
public enum LikelyForm: Sendable, Hashable {
    /// Records on lines of their own: ``SyncOptions/Form/ndjson``.
    case ndjson
    /// A JSON:API document: ``SyncOptions/Form/jsonAPI``.
    case jsonAPI
    /// The answer of a GraphQL service: ``SyncOptions/Form/graphQL``.
    case graphQL
    /// An object whose members are the records: ``SyncOptions/keyedBy``; whether their names fit the primary key, nil
    /// where there is no model that could say it.
    case keyed(namesFitKey: Bool?)
    /// Lists of several entities: the entity of each, by its key.
    case entities([String: String])
    /// Text with commas, semicolons or tabs between the columns. It is not read: convert it to JSON first.
    case csv
    /// A web page, such as one for logging in: not what was asked for.
    case html
    /// XML. It is not read.
    case xml
    /// YAML. It is not read.
    case yaml

    /// What it is, as a part of a sentence.
    package var name: String {
        switch self {
        case .ndjson: "JSON on each line by itself"
        case .jsonAPI: "a JSON:API document"
        case .graphQL: "the answer of a GraphQL service"
        case .keyed: "an object whose members are records"
        case .entities: "an object with lists of several entities"
        case .csv: "CSV, not JSON"
        case .html: "HTML, not JSON: a web page, perhaps one for logging in"
        case .xml: "XML, not JSON"
        case .yaml: "YAML, not JSON"
        }
    }

    /// What reads it, in Swift; nil if nothing here does.
    private var option: String? {
        switch self {
        case .ndjson: "options.form = .ndjson"
        case .jsonAPI: "options.form = .jsonAPI"
        case .graphQL: "options.form = .graphQL"
        case .keyed(namesFitKey: true): "options.keyedBy = .primaryKey"
        case .keyed(namesFitKey: false): "options.keyedBy = .attribute(…)"
        case .keyed(namesFitKey: nil): "options.keyedBy"
        case .entities(let entities):
            "entities: [" + entities.sorted { $0.key < $1.key }.map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
                + "]"
        case .csv, .html, .xml, .yaml: nil
        }
    }

    var advice: String { "it looks like \(name)" + (option.map { "; \($0) reads that" } ?? "") }
}
