// A decoder that stands in for yours: it reads integers and text, and refuses everything else.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

const (
	formatDescription = 15
	tableMap          = 19
	writeRows         = 30
	updateRows        = 31
	deleteRows        = 32
	partialUpdateRows = 39
	payload           = 40
)

type table struct {
	schema, name string
	kinds        []byte
	lengths      []int // of text, in bytes
	names        []string
	unsigned     []bool
}

// Decode gives each row change of a log, or says why it cannot.
func Decode(path string, give func(Change) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header := make([]byte, 19)
	if _, err = io.ReadFull(file, header[:4]); err != nil || string(header[:4]) != "\xfebin" {
		return fmt.Errorf("not a binary log")
	}
	tables, checksum := map[uint64]table{}, 0
	for position := int64(4); ; {
		if _, err = io.ReadFull(file, header); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("cut off at %d", position)
		}
		size := int64(binary.LittleEndian.Uint32(header[9:]))
		if size < int64(19+checksum) {
			return fmt.Errorf("no event at %d", position)
		}
		if position+size > info.Size() {
			return fmt.Errorf("cut off at %d", position)
		}
		body, err := read(file, header[4], size-19)
		switch {
		case err != nil || body == nil:
		case header[4] == formatDescription:
			checksum = 4 * int(body[len(body)-5])
		default:
			err = take(header[4], body[:len(body)-checksum], tables, give)
		}
		if err != nil {
			return fmt.Errorf("event %d at %d: %w", header[4], position, err)
		}
		position += size
	}
}

// The body of an event; nil for one that is passed over, as nothing of it is needed.
func read(file *os.File, kind byte, size int64) ([]byte, error) {
	switch kind {
	case partialUpdateRows, payload:
		return nil, fmt.Errorf("this type of event is not supported")
	case formatDescription, tableMap, writeRows, updateRows, deleteRows:
		body := make([]byte, size)
		_, err := io.ReadFull(file, body)
		return body, err
	}
	_, err := file.Seek(size, io.SeekCurrent)
	return nil, err
}

// A damaged event ends in a slice that is too short: Go's panic becomes an error.
func take(kind byte, body []byte, tables map[uint64]table, give func(Change) error) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("damaged: %v", problem)
		}
	}()
	reader := &reader{body}
	id := reader.number(6)
	reader.take(2)
	if kind == tableMap {
		tables[id] = readTable(reader)
		return nil
	}
	found := tables[id]
	reader.take(int(reader.number(2)) - 2)
	columns := int(reader.packed())
	if columns != len(found.kinds) {
		return fmt.Errorf("no table for these rows")
	}
	present := [][]byte{reader.take((columns + 7) / 8)}
	if kind == updateRows {
		present = append(present, reader.take((columns+7)/8))
	}
	for len(reader.rest) > 0 {
		change := Change{Schema: found.schema, Table: found.name}
		images := []Image{}
		for _, bitmap := range present {
			image, err := found.image(reader, bitmap)
			if err != nil {
				return err
			}
			images = append(images, image)
		}
		switch kind {
		case writeRows:
			change.Operation, change.After = "insert", images[0]
		case updateRows:
			change.Operation, change.Before, change.After = "update", images[0], images[1]
		case deleteRows:
			change.Operation, change.Before = "delete", images[0]
		}
		if err := give(change); err != nil {
			return err
		}
	}
	return nil
}

func readTable(reader *reader) (found table) {
	found.schema = string(reader.take(int(reader.number(1))))
	reader.take(1)
	found.name = string(reader.take(int(reader.number(1))))
	reader.take(1)
	found.kinds = reader.take(int(reader.packed()))
	metadata := reader.of(int(reader.packed()))
	numbers := 0
	for place, kind := range found.kinds {
		length := 0
		switch kind {
		case 1, 2, 3, 8, 9: // integers have no metadata
			numbers++
		case 4, 5, 246: // FLOAT, DOUBLE and DECIMAL have a sign too
			numbers++
			metadata.take(map[byte]int{4: 1, 5: 1, 246: 2}[kind])
		case 15: // VARCHAR
			length = int(metadata.number(2))
		case 17, 18, 19, 245, 252, 255, 242:
			metadata.take(1)
		case 16, 247, 248, 254:
			metadata.take(2)
		}
		found.lengths = append(found.lengths, length)
		found.names = append(found.names, fmt.Sprintf("@%d", place+1))
	}
	found.unsigned = make([]bool, len(found.kinds))
	reader.take((len(found.kinds) + 7) / 8)
	for len(reader.rest) > 0 {
		kind := reader.number(1)
		field := reader.of(int(reader.packed()))
		switch kind {
		case 1: // a bit for each column of numbers
			bits, bit := field.rest, 0
			for place, kind := range found.kinds {
				switch kind {
				case 1, 2, 3, 8, 9, 4, 5, 246:
					found.unsigned[place] = bits[bit/8]&(0x80>>(bit%8)) != 0
					bit++
				}
			}
		case 4: // names
			for place := range found.names {
				found.names[place] = string(field.take(int(field.packed())))
			}
		}
	}
	return found
}

func (t table) image(reader *reader, present []byte) (Image, error) {
	has := func(bits []byte, bit int) bool { return bits[bit/8]&(1<<(bit%8)) != 0 }
	count := 0
	for place := range t.kinds {
		if has(present, place) {
			count++
		}
	}
	nulls, image, bit := reader.take((count+7)/8), Image{}, 0
	for place, kind := range t.kinds {
		if !has(present, place) {
			continue
		}
		null := has(nulls, bit)
		bit++
		if null {
			image[t.names[place]] = nil
			continue
		}
		size := map[byte]int{1: 1, 2: 2, 9: 3, 3: 4, 8: 8}[kind]
		switch {
		case size > 0:
			value := reader.number(size)
			if shift := 64 - 8*size; t.unsigned[place] {
				image[t.names[place]] = value
			} else {
				image[t.names[place]] = int64(value<<shift) >> shift
			}
		case kind == 15:
			width := 1
			if t.lengths[place] > 255 {
				width = 2
			}
			image[t.names[place]] = reader.take(int(reader.number(width)))
		default:
			return nil, fmt.Errorf("columns of the type %d are not supported", kind)
		}
	}
	return image, nil
}

type reader struct{ rest []byte }

func (r *reader) take(size int) []byte {
	found := r.rest[:size]
	r.rest = r.rest[size:]
	return found
}

func (r *reader) of(size int) *reader { return &reader{r.take(size)} }

func (r *reader) number(size int) (found uint64) {
	for place, value := range r.take(size) {
		found |= uint64(value) << (8 * place)
	}
	return found
}

func (r *reader) packed() uint64 {
	switch first := r.number(1); first {
	case 252:
		return r.number(2)
	case 253:
		return r.number(3)
	case 254:
		return r.number(8)
	default:
		return first
	}
}
