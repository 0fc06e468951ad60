import Foundation

/// What encoding a value of a type can come to.
enum NestingKind {
    /// One value, whatever an encoder makes of it.
    case scalar
    /// An array or an object of scalars.
    case flat
    /// An object by names. Foundation's JSON encoder leaves such names as they are, whatever its strategy for keys.
    case dictionary
    /// Anything else.
    case other

    init(_ type: any Encodable.Type) {
        switch type {
        case is any NestingScalar.Type: self = .scalar
        case is any NestingFlat.Type: self = .flat
        case is any NestingDictionary.Type: self = .dictionary
        default: self = .other
        }
    }
}

/// What Foundation's encoders write without asking others to encode themselves.
protocol NestingScalar: Encodable {}

extension Bool: NestingScalar {}
extension String: NestingScalar {}
extension Double: NestingScalar {}
extension Float: NestingScalar {}
extension Int: NestingScalar {}
extension Int8: NestingScalar {}
extension Int16: NestingScalar {}
extension Int32: NestingScalar {}
extension Int64: NestingScalar {}
extension UInt: NestingScalar {}
extension UInt8: NestingScalar {}
extension UInt16: NestingScalar {}
extension UInt32: NestingScalar {}
extension UInt64: NestingScalar {}
extension Int128: NestingScalar {}
extension UInt128: NestingScalar {}
extension Data: NestingScalar {}
extension Date: NestingScalar {}
extension Decimal: NestingScalar {}
extension URL: NestingScalar {}
extension UUID: NestingScalar {}
extension Optional: NestingScalar where Wrapped: NestingScalar {}

/// What holds nothing but scalars.
protocol NestingFlat: Encodable {}

extension Array: NestingFlat where Element: NestingScalar {}
extension Dictionary: NestingFlat where Key == String, Value: NestingScalar {}

/// An object by names with values of any kind.
protocol NestingDictionary: Encodable {
    /// The same with a limit in each value.
    func limited(by limit: NestingLimit) -> any Encodable
}

extension Dictionary: NestingDictionary where Key == String, Value: Encodable {
    func limited(by limit: NestingLimit) -> any Encodable { mapValues { NestingLimited($0, limit) } }
}
