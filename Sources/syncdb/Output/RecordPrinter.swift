import Sync

/// Fetched rows, as a table for people or as JSON for programs.
struct RecordPrinter {
    let records: [Record]
    let attributes: [Attribute]
    var style = Style.plain

    /// One column per attribute. Nil is an empty cell.
    var table: VisibleText {
        var table = TablePrinter(
            attributes.map { TablePrinter.Column(title: $0.name, isNumeric: $0.type.isNumeric) })
        table.style = style
        for record in records {
            table.add(attributes.map { (record[$0.name] ?? .null).text })
        }
        return table.text
    }

    /// An array with one object, on one line, per row.
    var json: String {
        guard !records.isEmpty else { return "[]" }
        let rows = records.map { record in
            let members = attributes.map { JSONValue.Member($0.name, (record[$0.name] ?? .null).jsonValue) }
            return "  " + JSONLine.text(of: .object(members))
        }
        return "[\n" + rows.joined(separator: ",\n") + "\n]"
    }
}

extension AttributeType {
    fileprivate var isNumeric: Bool { self == .integer || self == .double || self == .decimal }
}
