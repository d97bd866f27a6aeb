/// The values of attributes as an export writes them.
package struct ExportValues {
    private let dates: ExportDates

    package init(_ options: ExportOptions = ExportOptions()) { dates = ExportDates(options) }

    /// - Returns: Nil for a value that cannot be written.
    package func json(_ value: StoredValue, _ conversion: ValueConversion?) -> JSONValue? {
        switch (value, conversion) {
        case (.null, _): .null
        case (_, let conversion?): conversion.json(value)
        case (.date(let date), nil): dates.text(date)
        case (.double(let number), nil) where !number.isFinite: .null
        case (_, nil): value.jsonForm
        }
    }
}
