// SPDX-License-Identifier: Apache-2.0
// The grammar of .gc3 files; docs/language.md explains it. It has no actions and no predicates: lib/Parse gives trees
// their meaning. Every decision except `sizes (` and `nodes (` needs at most two tokens, so prediction stays cheap.
// lib/Parse/Nesting.cpp limits the depth of trees before parsing. So each recursion here must consume a token that
// Nesting.cpp counts.
grammar GC3;

file : item* EOF ;
loneExpression : expression EOF ;

item : importItem | paramItem | functionItem | collectiveItem | programItem ;

importItem : 'import' STRING ';' ;
paramItem : 'param' name ':' type '=' value=expression ('in' choices=expression)? ';' ;
functionItem : 'fn' name '(' parameters? ')' ('->' type)? (block | '=' expression ';') ;
collectiveItem : 'collective' name '(' parameters? ')' '{' clause* '}' ;
programItem : 'program' name 'implements' name '(' arguments? ')' block ;

parameters : parameter (',' parameter)* ','? ;
parameter : name ':' type ('=' expression)? ;
type : name | 'protocol' | '[' type ']' ;

// Collectives
clause : ranksClause | shapeClause | aliasClause | ensuresClause | letStatement | assertStatement ;
ranksClause : 'ranks' expression ';' ;
shapeClause
  : buffer=('input' | 'output') '[' first=expression ']' ('[' second=expression ']')? ('on' owners=expression)? ';' ;
aliasClause : 'alias' ('when' condition=expression ':')? place 'is' place ';' ;
ensuresClause : 'ensures' ('for' binders)? ':' place '==' (place | combination) ';' ;
combination : 'reduce' '(' place 'for' binders ')' ;
place : buffer=('input' | 'output') '(' expression ',' expression ')' ;
binders : binder (',' binder)* ('if' condition=expression)? ;
binder : name 'in' expression ;

// Statements
block : '{' statement* '}' ;
statement
  : letStatement | forStatement | whileStatement | ifStatement | returnStatement | jumpStatement
  | assertStatement | remarkStatement | parallelizeStatement | channelStatement
  | protocolSetting | sizesSetting | nodesSetting | instancesSetting | scratchSetting
  | block | plainStatement
  ;
letStatement : kind=('let' | 'var') name (':' type)? '=' expression ';' ;
forStatement : 'for' name 'in' expression block ;
whileStatement : 'while' expression block ;
ifStatement : 'if' expression block ('else' (ifStatement | block))? ;
returnStatement : 'return' expression? ';' ;
jumpStatement : kind=('break' | 'continue') ';' ;
assertStatement : 'assert' expression (',' expression)? ';' ;
remarkStatement : 'remark' expression ';' ;
parallelizeStatement : 'parallelize' '(' expression ')' block ;
channelStatement : 'channel' '(' expression ')' block ;
protocolSetting : 'protocol' expression ';' ;
sizesSetting : 'sizes' expression pin='pinned'? (otherwise='or' 'nccl')? ';' ;
nodesSetting : 'nodes' nodes=expression 'of' ranks=expression ';' ;
instancesSetting : 'instances' expression ';' ;
scratchSetting : 'scratch' name ';' ;
plainStatement : expression (assign=('=' | '+=' | '-=' | '*=' | '/=' | '%=') expression)? ';' ;

// Expressions, tightest operators first
expression : operation ('..' operation ('by' operation)?)? ;
operation
  : primary                                                                 # primaryOperation
  | operation '[' expression ']'                                            # indexOperation
  | operation '.' name call?                                                # memberOperation
  | op=('-' | '!' | '~') operation                                          # unaryOperation
  | operation op=('*' | '/' | '%') operation                                # binaryOperation
  | operation op=('+' | '-') operation                                      # binaryOperation
  | operation op=('<<' | '>>') operation                                    # binaryOperation
  | operation op='&' operation                                              # binaryOperation
  | operation op='^' operation                                              # binaryOperation
  | operation op='|' operation                                              # binaryOperation
  | operation op=('==' | '!=' | '<' | '<=' | '>' | '>=') operation          # binaryOperation
  | operation op='&&' operation                                             # binaryOperation
  | operation op='||' operation                                             # binaryOperation
  | <assoc=right> operation '?' operation ':' operation                     # conditionalOperation
  ;
primary
  : INT | STRING | 'true' | 'false' | 'input' | 'output' | 'scratch'
  | name call?
  | list
  | '(' expression ')'
  ;
call : '(' arguments? ')' ;
arguments : argument (',' argument)* ','? ;
argument : (name '=')? expression ;
list : '[' (expression (generator+ | (',' expression)* ','?))? ']' ;
generator : 'for' name 'in' expression ('if' condition=expression)? ;

// These words have a meaning in only one place, so they can be names everywhere else.
name
  : ID | 'ranks' | 'on' | 'is' | 'when' | 'by' | 'sizes' | 'instances' | 'alias' | 'ensures' | 'reduce' | 'implements'
  | 'or' | 'nccl' | 'pinned' | 'nodes' | 'of'
  ;

// INT accepts letters, so that a misspelt literal is one token with one message.
INT : [0-9] [0-9a-zA-Z_]* ;
ID : [a-zA-Z_] [a-zA-Z_0-9]* ;
STRING : '"' ('\\' ~[\r\n] | ~["\\\r\n])* '"' ;
SPACE : [ \t\r\n]+ -> skip ;
LINE_COMMENT : '//' ~[\r\n]* -> skip ;
BLOCK_COMMENT : '/*' (~'*' | '*'+ ~[*/])* '*'+ '/' -> skip ;

// The parser does not see these tokens; lib/Parse reports them.
OPEN_STRING : '"' ('\\' ~[\r\n] | ~["\\\r\n])* -> channel(HIDDEN) ;
OPEN_COMMENT : '/*' (~'*' | '*'+ ~[*/])* '*'* -> channel(HIDDEN) ;
STRAY : . -> channel(HIDDEN) ;
