// The syntax of the .tile language: Python's as far as the language has a use for it. Rules only; no C++ in here.
//
// Decisions need one token of look-ahead almost everywhere, so that a syntax error is found at the very token that is
// wrong. What needs more, or depends on what an expression is (targets, keyword names), is checked when the tree is built.
parser grammar TileParser;

options {
  tokenVocab = TileLexer;
  superClass = TileParserBase;
}

@header { #include "TileParserBase.h" }

// Entry: one statement of the module level with everything that belongs to it.
topLevel : statement EOF ;

// Entry: one logical line alone, to find the errors of a file in which topLevel failed.
logicalLine : ( simpleLine | decorator | header ( simpleLine | NEWLINE ) ) EOF ;

header : ifHead | elifHead | elseHead | whileHead | forHead | withHead | functionHead ;

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

statement : simpleLine | compound ;

simpleLine : simpleStatement ( ';' simpleStatement )* ';'? NEWLINE ;

simpleStatement
  : expressionStatement
  | passStatement
  | breakStatement
  | continueStatement
  | returnStatement
  | assertStatement
  | importStatement
  | importFromStatement
  ;

// t1 = t2 = value;  target: annotation = value;  target op= value;  value
expressionStatement
  : testList ( ':' test ( '=' testList )?
             | augmented testList
             | ( '=' testList )*
             )
  ;

augmented
  : '+=' | '-=' | '*=' | '/=' | '//=' | '%=' | '@=' | '**=' | '<<=' | '>>=' | '&=' | '|=' | '^='
  ;

passStatement     : 'pass' ;
breakStatement    : 'break' ;
continueStatement : 'continue' ;
returnStatement   : 'return' testList? ;
assertStatement   : 'assert' test ( ',' test )? ;

importStatement : 'import' importItem ( ',' importItem )* ;
importItem      : dottedName ( 'as' NAME )? ;
dottedName      : NAME ( '.' NAME )* ;

importFromStatement : 'from' importSource 'import' importNames ;
importSource        : ( '.' | '...' )* dottedName | ( '.' | '...' )+ ;
importNames         : '*' | '(' importName ( ',' importName )* ','? ')' | importName ( ',' importName )* ;
importName          : NAME ( 'as' NAME )? ;

compound : ifStatement | whileStatement | forStatement | withStatement | functionDefinition ;

block : simpleLine | NEWLINE INDENT statement+ DEDENT ;

ifStatement : ifHead block elifPart* elsePart? ;
elifPart    : elifHead block ;
elsePart    : elseHead block ;
ifHead      : 'if' test ':' ;
elifHead    : 'elif' test ':' ;
elseHead    : 'else' ':' ;

whileStatement : whileHead block ;
whileHead      : 'while' test ':' ;

forStatement : forHead block ;
forHead      : 'for' targetList 'in' testList ':' ;

withStatement : withHead block ;
withHead      : 'with' withItem ( ',' withItem )* ':' ;
withItem      : test ( 'as' target )? ;

functionDefinition : decorator* functionHead block ;
decorator          : '@' test NEWLINE ;
functionHead       : 'def' NAME '(' parameterList? ')' ( '->' test )? ':' ;
parameterList      : parameter ( ',' parameter )* ','? ;
parameter          : ( '*' | '**' )? NAME ( ':' test )? ( '=' test )? | '*' | '/' ;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

// One element without a comma stands for itself, otherwise a tuple.
testList : testOrStar ( ',' testOrStar )* ','? ;

testOrStar : starred | test ;
starred    : '*' expr ;

test : expr ( 'if' expr 'else' test )? ;

// Strongest first. `not` as an operand of something stronger is rejected when the tree is built.
expr
  : primary                                              # primaryExpr
  | <assoc=right> expr '**' expr                         # powerExpr
  | ( '-' | '+' | '~' ) expr                             # unaryExpr
  | expr ( '*' | '/' | '//' | '%' | '@' ) expr           # binaryExpr
  | expr ( '+' | '-' ) expr                              # binaryExpr
  | expr ( '<<' | '>>' ) expr                            # binaryExpr
  | expr '&' expr                                        # binaryExpr
  | expr '^' expr                                        # binaryExpr
  | expr '|' expr                                        # binaryExpr
  | expr comparison expr                                 # compareExpr
  | 'not' expr                                           # notExpr
  | expr 'and' expr                                      # andExpr
  | expr 'or' expr                                       # orExpr
  ;

comparison : '<' | '>' | '==' | '>=' | '<=' | '!=' | 'in' | 'not' 'in' | 'is' 'not'? ;

primary : atom trailer* ;

trailer
  : '.' NAME                                             # attributeTrailer
  | '(' argumentList? ')'                                # callTrailer
  | '[' subscriptList ']'                                # subscriptTrailer
  ;

argumentList : argument ( ',' argument )* ','? ;
// name=value; that the name is one is checked when the tree is built.
argument     : '*' test | test ( '=' test )? ;

subscriptList : subscript ( ',' subscript )* ','? ;
subscript     : starred | test sliceRest? | sliceRest ;
sliceRest     : ':' test? ( ':' test? )? ;

atom
  : NAME                                                 # nameAtom
  | NUMBER                                               # numberAtom
  | STRING+                                              # stringAtom
  | 'True'                                               # trueAtom
  | 'False'                                              # falseAtom
  | 'None'                                               # noneAtom
  | '...'                                                # ellipsisAtom
  | '(' testList? ')'                                    # parenAtom
  | '[' ( testOrStar ( clause+ | ( ',' testOrStar )* ','? ) )? ']'  # listAtom
  | '{' ( test ( ':' test ( ',' entry )* | ( ',' test )* ) ','? )? '}' # braceAtom
  ;

entry  : test ':' test ;
clause : 'for' targetList 'in' expr ( 'if' expr )* ;

// What `for` and `as` bind: no `in` can be part of it.
targetList : target ( ',' target )* ','? ;
target     : '*'? targetAtom trailer* ;
targetAtom : NAME | '(' targetList? ')' | '[' targetList? ']' ;
