import Foundation

/// A number that its description stands for.
protocol FormNumber: CustomStringConvertible {}

extension Int: FormNumber {}
extension Int8: FormNumber {}
extension Int16: FormNumber {}
extension Int32: FormNumber {}
extension Int64: FormNumber {}
extension Int128: FormNumber {}
extension UInt: FormNumber {}
extension UInt8: FormNumber {}
extension UInt16: FormNumber {}
extension UInt32: FormNumber {}
extension UInt64: FormNumber {}
extension UInt128: FormNumber {}
extension Double: FormNumber {}
extension Float: FormNumber {}
extension Decimal: FormNumber {}

// The standard library answers for the two widest integers, with an error, unless a container has methods of its own.

extension FormKeyedContainer {
    func encode(_ value: Int128, forKey key: Key) throws {
        try encoding.field(key).write(value)
    }

    func encode(_ value: UInt128, forKey key: Key) throws {
        try encoding.field(key).write(value)
    }
}

extension FormUnkeyedContainer {
    func encode(_ value: Int128) throws {
        try encoding.newElement().write(value)
    }

    func encode(_ value: UInt128) throws {
        try encoding.newElement().write(value)
    }
}

extension FormSingleValueContainer {
    func encode(_ value: Int128) throws {
        try encoding.here.write(value)
    }

    func encode(_ value: UInt128) throws {
        try encoding.here.write(value)
    }
}
