import GRDB
import SyncCore

/// Brings stored values from one type of attribute to another.
enum MigratedValue {
    /// The value as stored under the new type; nil if it does not fit, NULL stays NULL.
    static func convert(_ value: DatabaseValue, from old: AttributeType, to new: AttributeType) -> DatabaseValue? {
        if value.isNull || old == new { return value }
        let stored = ColumnValue.storedValue(value, as: old)
        guard !stored.isNull, let converted = Coercion.storedValue(stored.jsonForm, as: new) else { return nil }
        if isNumber(old), isNumber(new), Coercion.storedValue(converted.jsonForm, as: old) != stored { return nil }
        let column = ColumnValue.databaseValue(converted, as: new)
        return column.isNull ? nil : column
    }

    /// Between numbers a value fits only if it comes back the same: an integer above 2^53 is no double.
    private static func isNumber(_ type: AttributeType) -> Bool {
        switch type {
        case .integer, .double, .decimal, .boolean: true
        default: false
        }
    }
}
